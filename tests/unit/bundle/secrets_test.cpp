// SPDX-License-Identifier: GPL-3.0-or-later
// Which values are known to be secrets, and that nothing else changes.
#include "bundle/secrets.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal;

TEST_CASE("secrets: names") {
    for (const char* yes : {"--password", "password", "DB_PASSWD", "api_key", "--auth-token",
                            "client-secret", "Passphrase", "credentials"})
        CHECK(bundle::is_secret_name(yes));
    for (const char* no : {"--password-file", "pass", "key", "tokens_path", "--env-file", "",
                           "passdb", "nopassword", "password_command", "default_pass_scheme"})
        CHECK_FALSE(bundle::is_secret_name(no));
}

TEST_CASE("secrets: in texts") {
    struct row {
        const char* text;
        const char* wanted;
    };
    for (const auto& [text, wanted] : {
             row{"password = \"hunter2\"\nport = 25", "password = \"(left out)\"\nport = 25"},
             row{"argv = [\"x\", \"--password\", \"hunter2\", \"y\"]",
                 "argv = [\"x\", \"--password\", \"(left out)\", \"y\"]"},
             row{"\"--password=hunter2\", 1", "\"--password=(left out)\", 1"},
             row{"x --auth-token hunter2 y", "x --auth-token (left out) y"},
             row{"\"api_key\": 'a b'", "\"api_key\": '(left out)'"},
             row{"passwords = [\"a\", \"b\"]", "passwords = [(left out)]"},
             row{"args = password=test scheme", "args = password=(left out) scheme"},
             row{"https://me:hunter2@example.com/x", "https://me:(left out)@example.com/x"},
             row{"http://me@example.com:80/", "http://me@example.com:80/"},
             row{"http://token=:a@b c", "http://token=:(left out)@b c"},
             row{"the password is asked for", "the password is asked for"},
             row{"--password-file /x", "--password-file /x"},
             row{"password = \"\"", "password = \"\""},
             row{"secret=", "secret="},
             row{"password = \"open", "password = \"(left out)"},
             row{"token: abc}", "token: (left out)}"},
             row{"password = \"\"\"a\nhunter\"\"\"\nx = 1",
                 "password = \"\"\"(left out)\"\"\"\nx = 1"},
             row{"password = '''a 'hunter'''", "password = '''(left out)'''"},
             row{"password = \"a\\\"hunter\" # \"", "password = \"(left out)\" # \""},
             row{"password = 'a\\' # x", "password = '(left out)' # x"},
             row{"secret = [\"a]hunter\",\"hunter2\"]\nx = [1]", "secret = [(left out)]\nx = [1]"},
             row{"secret = [ # ]\n [\"hunter\"], {a = 1}]\nx", "secret = [(left out)]\nx"},
             row{"credentials = {user = \"x}\", pass = \"hunter\"}, y = 2",
                 "credentials = {(left out)}, y = 2"},
             row{"\"API key\": \"hunter\"", "\"API key\": \"(left out)\""},
             row{"[\"--password=my hunter two\", \"y\"]", "[\"--password=(left out)\", \"y\"]"},
             row{"x --password=a,hunter --port 25", "x --password=(left out) --port 25"},
             row{"x --password=a\"hunter b\" y", "x --password=(left out) y"},
             row{"x 'password=a,hunter two' y", "x 'password=(left out)' y"},
             row{"password: my hunter two\nx: 1", "password: (left out)\nx: 1"},
             row{"[\"--auth-password\",\n  \"hunter\"]",
                 "[\"--auth-password\",\n  \"(left out)\"]"},
             row{"[\"--token\",  # comment\r\n 'hunter',\n]",
                 "[\"--token\",  # comment\r\n '(left out)',\n]"},
             row{"['--token' # one\n , # two, three\n\n 'hunter']",
                 "['--token' # one\n , # two, three\n\n '(left out)']"},
             row{"[\"--token\",\n]\nx = 1", "[\"--token\",\n]\nx = 1"},
             row{"[\"--token\"\n]\nx = 1", "[\"--token\"\n]\nx = 1"},
             row{"x --token \\\n  hunter y", "x --token \\\n  (left out) y"},
             row{"x --token\ny z", "x --token\ny z"},
             row{"{\"password\":\n  \"hunter\"}", "{\"password\":\n  \"(left out)\"}"},
             row{"a = { secret.x = \"hunter\" }", "a = { secret.x = \"(left out)\" }"},
             row{"secret . \"x y\" = 'hunter'", "secret . \"x y\" = '(left out)'"},
             row{"\"secret\".x = 'hunter'", "\"secret\".x = '(left out)'"},
             row{"secret.path = \"/x\"", "secret.path = \"/x\""},
             row{"http://token.example.com:80/", "http://token.example.com:80/"},
             row{"[a.credentials]\nuser = \"hunter\"\n[b]\nuser = \"c\"",
                 "[a.credentials]\nuser = \"(left out)\"\n[b]\nuser = \"c\""},
         }) {
        INFO(text);
        const auto cleaned = bundle::without_secrets(text);
        CHECK(cleaned.text == wanted);
        CHECK(cleaned.removed == (std::string(text) == wanted ? 0 : 1));
        const auto again = bundle::without_secrets(cleaned.text);
        CHECK((again.removed == 0 && again.text == cleaned.text));
    }
}

TEST_CASE("secrets: in JSON") {
    const auto clean = [](const char* text) { return bundle::json_without_secrets(text).value(); };
    const char* const harmless = R"({"argv": ["a", "--port", "25"],"n":1.50})";
    CHECK(clean(harmless).text == harmless);
    CHECK(clean(harmless).removed == 0);
    const auto cleaned = clean(
        R"({"argv":["x","--password","one","--token=two"],"text":"a\npassword = \"three\"\n",)"
        R"("values":{"db_password":"four","port":"25"}})");
    CHECK(cleaned.removed == 4);
    for (const char* word : {"one", "two", "three", "four"})
        CHECK(cleaned.text.find(word) == std::string::npos);
    CHECK(cleaned.text.find("\"25\"") != std::string::npos);
    CHECK(bundle::json_without_secrets(cleaned.text)->removed == 0);
    CHECK(bundle::json_without_secrets("{").has_error());
    struct row {
        const char* document;
        std::size_t removed = 1;
    };
    for (const auto& [document, removed] :
         {row{R"(["--password=my hunter two"])"}, row{R"(["--password=a,hunter"])"},
          row{R"(["--password=a\"hunter"])"}, row{R"(["password=a \"hunter"])"},
          row{R"(["--password my hunter"])"}, row{R"(["x","--password",["a","hunter"]])", 2},
          row{R"({"options":{"password":["hunter1","hunter2"],"api_token":[1234]}})", 3},
          row{R"({"API key":"hunter"})"}, row{R"({"credentials":{"user":{"name":"hunter"}}})"},
          row{R"({"text":"password = \"\"\"hunter\"\"\""})"}}) {
        INFO(document);
        const auto made = clean(document);
        CHECK(made.removed == removed);
        CHECK(made.text.find("hunter") == std::string::npos);
        CHECK(made.text.find("1234") == std::string::npos);
        CHECK(bundle::json_without_secrets(made.text)->removed == 0);
    }
    CHECK(clean(R"({"password":true,"token":null})").removed == 0);
}
