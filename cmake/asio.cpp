// SPDX-License-Identifier: GPL-3.0-or-later
// Asio's own functions, compiled here and nowhere else (BOOST_ASIO_SEPARATE_COMPILATION).
#include <boost/asio/impl/src.hpp>
