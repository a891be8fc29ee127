// The noncentrality is found by bisection: the power rises with it, and Boost has no inverse.
#include "stats/experiment/paired.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace postal::stats {
namespace {

namespace policies = boost::math::policies;

// A series that does not converge, or a value out of range, gives what was reached.
using no_throw = policies::policy<policies::domain_error<policies::ignore_error>,
                                  policies::overflow_error<policies::ignore_error>,
                                  policies::evaluation_error<policies::ignore_error>>;
using students_t = boost::math::students_t_distribution<double, no_throw>;
using non_central_t = boost::math::non_central_t_distribution<double, no_throw>;
using chi_squared = boost::math::chi_squared_distribution<double, no_throw>;

double degrees_of_freedom(std::size_t count) {
    return static_cast<double>(count) - 1;
}

double t_limit(std::size_t count, double alpha) {
    return quantile(complement(students_t(degrees_of_freedom(count)), alpha / 2));
}

double standard_error(const moments& of) {
    return of.deviation() / std::sqrt(static_cast<double>(of.count));
}

}  // namespace

moments moments_of_logs(std::span<const double> differences) noexcept {
    moments of = moments_of(differences);
    if (of.deviation() < log_rounding) of.squares = 0;
    if (std::abs(of.mean) < log_rounding) of.mean = 0;
    return of;
}

double t_half_width(const moments& of, double alpha) {
    return std::min(largest_log, t_limit(of.count, alpha) * standard_error(of));
}

double t_probability(const moments& of) {
    if (of.squares == 0) return of.mean == 0 ? 1 : 0;
    const double t = std::abs(of.mean) / standard_error(of);
    return 2 * cdf(complement(students_t(degrees_of_freedom(of.count)), t));
}

double detectable_noncentrality(std::size_t count, double alpha, double power) {
    const double freedom = degrees_of_freedom(count);
    const double limit = t_limit(count, alpha);
    const auto shown = [&](double noncentrality) {
        return cdf(complement(non_central_t(freedom, noncentrality), limit)) >= power;
    };
    double below = 0;
    double above = limit + 1;
    while (!shown(above) && above < 1e6)
        below = std::exchange(above, 2 * above);
    while (above - below > 1e-10 * above) {
        const double middle = (below + above) / 2;
        (shown(middle) ? above : below) = middle;
    }
    return above;
}

double deviation_limit(const moments& of, double level) {
    const chi_squared distribution(degrees_of_freedom(of.count));
    return std::sqrt(of.squares / quantile(complement(distribution, level)));
}

}  // namespace postal::stats
