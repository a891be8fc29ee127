// SPDX-License-Identifier: GPL-3.0-or-later
// See languages.hpp.
#include "mail/languages.hpp"

#include "base/text.hpp"

namespace postal::mail {
namespace {

constexpr std::array<language, language_count> all_languages{{
    {"en",
     "the and for that with this from have your will please report meeting invoice order project "
     "team week schedule budget review update attached regards thanks customer service number "
     "price delivery question answer",
     "report invoice minutes", "", 'a', 26, 9},
    {"de",
     "und die der nicht mit für über Grüße bitte Rechnung Bestellung Lieferung Besprechung "
     "Übersicht Woche Vertrag Änderung größer müssen können Straße Anhang Termin Frühling schön "
     "Kunde Angebot vielen Dank",
     "Übersicht Verträge Gebühren", "%DCbersicht", 'a', 26, 12},
    {"fr",
     "et les des pour avec vous nous dans être été après très réunion facture commande équipe "
     "semaine déjà prévu merci cordialement pièce jointe révision côté leçon où garçon français "
     "projet",
     "récapitulatif échéancier été", "r%E9capitulatif", 'a', 26, 10},
    {"pl",
     "nie jest się na że dla który będzie proszę zamówienie spotkanie faktura tydzień dziękuję "
     "załącznik pozdrawiam może już również część środa piątek łączność źródło więcej usługa "
     "klient cena zespół",
     "zamówienie część źródła", "", 'a', 26, 11},
    {"ru",
     "и в не на что это как для по из мы вы отчёт встреча счёт заказ неделя проект спасибо "
     "пожалуйста вложение уважением команда клиент цена вопрос ответ срок договор работа",
     "отчёт счёт договор", "", 0x430, 32, 10},
    {"el",
     "και το να για με από που είναι θα έχει τιμολόγιο παραγγελία συνάντηση εβδομάδα έργο "
     "ευχαριστώ παρακαλώ συνημμένο ομάδα πελάτης τιμή ερώτηση απάντηση σύμβαση εργασία",
     "έργο σύμβαση έκθεση", "", 0x3b1, 25, 10},
    {"ar",
     "في من على إلى هذا مع أن كل تقرير اجتماع فاتورة طلب أسبوع مشروع شكرا مرفق فريق عميل سعر "
     "سؤال جواب عقد عمل موعد",
     "فاتورة تقرير عقد", "", 0x628, 19, 7},
    {"hi",
     "और के में है यह से को का पर नहीं बैठक चालान आदेश सप्ताह परियोजना धन्यवाद कृपया संलग्न टीम "
     "ग्राहक मूल्य प्रश्न उत्तर काम",
     "चालान आदेश काम", "", 0x915, 37, 6},
    {"zh",
     "我们 您好 会议 发票 订单 项目 本周 附件 谢谢 客户 价格 问题 答复 合同 工作 时间 请 已经 可以 "
     "需要 公司 报告 计划 服务",
     "发票 报告 合同", "", 0x4e00, 5000, 3},
    {"ja",
     "お世話 になって おります 会議 請求書 注文 今週 資料 添付 ありがとう ございます よろしく "
     "お願い します 確認 予定 株式会社 プロジェクト チーム 価格 質問 回答 契約 について",
     "請求書 資料 議事録", "", 0x3042, 80, 6},
    {"ko",
     "안녕하세요 회의 청구서 주문 이번 주 프로젝트 첨부 감사합니다 고객 가격 질문 답변 계약 업무 "
     "시간 확인 부탁드립니다 보고서 일정 서비스 회사 내용 관련",
     "청구서 보고서 계약", "", 0xac00, 11000, 4},
}};

constexpr std::uint64_t invented_in = 4;  // one word in so many

}  // namespace

const std::array<language, language_count>& languages() noexcept {
    return all_languages;
}

word_source::word_source(const language& of)
    : language_(of), words_(base::split(language_.words, ' ')) {}

void word_source::add_words(base::random_source& random, std::size_t most_octets,
                            std::string& to) const {
    const std::size_t before = to.size();
    std::string word;
    for (;;) {
        word.clear();
        if (random.below(invented_in) == 0) {
            for (std::uint64_t left = 1 + random.below(language_.longest_word); left > 0; --left) {
                const auto letter = static_cast<std::uint32_t>(random.below(language_.letters));
                append_utf8(language_.first_letter + letter, word);
            }
        } else {
            word = words_[random.below(words_.size())];
        }
        const std::size_t blank = to.size() > before ? 1 : 0;
        if (to.size() - before + blank + word.size() > most_octets) {
            if (to.size() > before) return;
            continue;
        }
        to.append(blank, ' ');
        to += word;
    }
}

void append_utf8(std::uint32_t code, std::string& to) {
    if (code < 0x80) {
        to += static_cast<char>(code);
    } else if (code < 0x800) {
        to += static_cast<char>(0xc0U | code >> 6U);
        to += static_cast<char>(0x80U | (code & 0x3fU));
    } else if (code < 0x10000) {
        to += static_cast<char>(0xe0U | code >> 12U);
        to += static_cast<char>(0x80U | (code >> 6U & 0x3fU));
        to += static_cast<char>(0x80U | (code & 0x3fU));
    } else {
        to += static_cast<char>(0xf0U | code >> 18U);
        to += static_cast<char>(0x80U | (code >> 12U & 0x3fU));
        to += static_cast<char>(0x80U | (code >> 6U & 0x3fU));
        to += static_cast<char>(0x80U | (code & 0x3fU));
    }
}

}  // namespace postal::mail
