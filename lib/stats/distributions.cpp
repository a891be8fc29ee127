// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/distributions.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace postal::stats {
namespace {

namespace policies = boost::math::policies;

using no_throw = policies::policy<policies::domain_error<policies::ignore_error>,
                                  policies::overflow_error<policies::ignore_error>,
                                  policies::evaluation_error<policies::ignore_error>>;
using students_t = boost::math::students_t_distribution<double, no_throw>;
using non_central_t = boost::math::non_central_t_distribution<double, no_throw>;
using chi_squared = boost::math::chi_squared_distribution<double, no_throw>;
using binomial = boost::math::binomial_distribution<double, no_throw>;

}  // namespace

double t_limit(double freedom, double outside) {
    return quantile(complement(students_t(freedom), outside));
}

double t_outside(double freedom, double limit) {
    return cdf(complement(students_t(freedom), limit));
}

double noncentral_t_outside(double freedom, double noncentrality, double limit) {
    return cdf(complement(non_central_t(freedom, noncentrality), limit));
}

double chi_squared_limit(double freedom, double outside) {
    return quantile(complement(chi_squared(freedom), outside));
}

double chi_squared_below(double freedom, double share) {
    return quantile(chi_squared(freedom), share);
}

double lowest_share(double trials, double successes, double outside) {
    return binomial::find_lower_bound_on_p(trials, successes, outside);
}

double highest_share(double trials, double successes, double outside) {
    return binomial::find_upper_bound_on_p(trials, successes, outside);
}

}  // namespace postal::stats
