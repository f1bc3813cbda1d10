// SPDX-License-Identifier: Apache-2.0
#include "profiler/serve/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <utility>

namespace vramscope::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Tcp = asio::ip::tcp;
using Code = boost::system::error_code;
using Parser = http::request_parser<http::empty_body>;

constexpr size_t kMostHeader = 8192;
constexpr size_t kMostConnections = 64;
constexpr size_t kPiece = 1 << 18;
// The same policy as in index.html. As a header, it applies to the worker too.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; "
    "style-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
constexpr auto kPatience = std::chrono::seconds(30);

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

const char* Reason(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 206:
      return "Partial Content";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 405:
      return "Method Not Allowed";
    case 416:
      return "Range Not Satisfiable";
    case 503:
      return "Service Unavailable";
    default:
      return "Not Found";
  }
}

std::string Header(const Answer& answer, bool keep) {
  const uint64_t bytes = answer.file.empty() ? answer.body.size() : answer.bytes;
  std::string header = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: {}\r\nCache-Control: "
      "no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: "
      "no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: {}\r\n",
      answer.status, Reason(answer.status), answer.type, bytes, keep ? "keep-alive" : "close", kPolicy);
  if (!answer.file.empty()) header += "Accept-Ranges: bytes\r\n";
  if (answer.status == 206)
    header += fmt::format("Content-Range: bytes {}-{}/{}\r\n", answer.offset,
                          answer.offset + answer.bytes - 1, *answer.whole);
  if (answer.status == 416) header += fmt::format("Content-Range: bytes */{}\r\n", answer.whole.value_or(0));
  return header + "\r\n";
}

Answer AnswerOf(const Answerer& answer, const Parser& parser) {
  const auto& request = parser.get();
  const auto range = request.find(http::field::range);
  return answer({View(request.method_string()), View(request.target()),
                 range == request.end() ? std::string_view() : View(range->value())});
}

void Limit(Parser& parser) {
  parser.header_limit(kMostHeader);
  parser.body_limit(0);
}

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Tcp::socket socket, const Answerer& answerer, std::shared_ptr<size_t> open)
      : stream_(std::move(socket)), answerer_(answerer), open_(std::move(open)) {
    ++*open_;
  }
  ~Connection() {
    --*open_;
    if (file_ >= 0) close(file_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Read() {
    parser_.emplace();
    Limit(*parser_);
    stream_.expires_after(kPatience);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](Code failed, size_t) {
      if (!failed) return self->Respond();
      if (failed == http::error::end_of_stream || failed == beast::error::timeout) return;
      self->answer_ = {.status = 400, .body = "The request cannot be understood.\n"};
      self->keep_ = false;
      self->Write();
    });
  }

 private:
  void Respond() {
    answer_ = AnswerOf(answerer_, *parser_);
    keep_ = parser_->keep_alive();
    Write();
  }

  void Write() {
    const bool head = parser_->get().method() == http::verb::head;
    left_ = 0;
    if (!head && !answer_.file.empty()) {
      if (file_ >= 0) close(file_);
      file_ = open(answer_.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
      if (file_ < 0) answer_ = {.status = 404, .body = "The file cannot be read.\n"};
      left_ = file_ < 0 ? 0 : answer_.bytes;
    }
    piece_ = Header(answer_, keep_);
    if (!head) piece_ += answer_.body;
    Send();
  }

  void Send() {
    stream_.expires_after(kPatience);
    asio::async_write(stream_, asio::buffer(piece_), [self = shared_from_this()](Code failed, size_t) {
      if (failed) return;
      if (self->left_ != 0) return self->NextPiece();
      if (self->keep_) self->Read();
    });
  }

  void NextPiece() {
    piece_.resize(static_cast<size_t>(std::min<uint64_t>(left_, kPiece)));
    const ssize_t got = pread(file_, piece_.data(), piece_.size(), static_cast<off_t>(answer_.offset));
    if (got <= 0) return;  // the file was shortened; the client sees an answer that is cut off
    piece_.resize(static_cast<size_t>(got));
    answer_.offset += piece_.size();
    left_ -= piece_.size();
    Send();
  }

  beast::tcp_stream stream_;
  const Answerer& answerer_;
  std::shared_ptr<size_t> open_;  // connections; outlives the server
  beast::flat_buffer buffer_{2 * kMostHeader};
  std::optional<Parser> parser_;
  Answer answer_;
  std::string piece_;
  bool keep_ = false;
  int file_ = -1;
  uint64_t left_ = 0;  // of the file, unsent
};

class Server {
 public:
  Server(asio::io_context& context, const Answerer& answerer) : acceptor_(context), answerer_(answerer) {}

  Code Listen(const std::string& address, uint16_t port) {
    Code failed;
    const Tcp::endpoint place(asio::ip::make_address(address, failed), port);
    if (failed) return failed;
    acceptor_.open(place.protocol(), failed);
    if (!failed) acceptor_.set_option(asio::socket_base::reuse_address(true), failed);
    if (!failed) acceptor_.bind(place, failed);
    if (!failed) acceptor_.listen(asio::socket_base::max_listen_connections, failed);
    return failed;
  }
  [[nodiscard]] uint16_t port() const { return acceptor_.local_endpoint().port(); }

  void Accept() {
    acceptor_.async_accept([this](Code failed, Tcp::socket socket) {
      if (failed == asio::error::operation_aborted) return;
      // Too many: this one is closed, and the client tries again.
      if (!failed && *open_ < kMostConnections)
        std::make_shared<Connection>(std::move(socket), answerer_, open_)->Read();
      Accept();
    });
  }

 private:
  Tcp::acceptor acceptor_;
  const Answerer& answerer_;
  std::shared_ptr<size_t> open_ = std::make_shared<size_t>(0);
};

}  // namespace

std::optional<bool> IsLoopback(const std::string& address) {
  Code failed;
  const auto parsed = asio::ip::make_address(address, failed);
  return failed ? std::nullopt : std::optional(parsed.is_loopback());
}

Status ServeUntilSignal(const Answerer& answer, const std::string& address, uint16_t port,
                        const std::function<void(uint16_t)>& ready) {
  asio::io_context context(1);
  Server server(context, answer);
  if (const Code failed = server.Listen(address, port))
    return Error{
        fmt::format("{} port {} cannot be used: {}. Choose another port.", address, port, failed.message())};
  asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](Code, int) { context.stop(); });
  server.Accept();
  ready(server.port());
  context.run();
  return {};
}

Status ServeUntilSignal(const Site& site, const std::string& address, uint16_t port,
                        const std::function<void(uint16_t)>& ready) {
  return ServeUntilSignal([&](const Request& request) { return site.AnswerTo(request); }, address, port,
                          ready);
}

size_t AnswerBytes(const Site& site, std::string_view bytes) {
  const Answerer answerer = [&](const Request& request) { return site.AnswerTo(request); };
  size_t answered = 0;
  while (!bytes.empty()) {
    Parser parser;
    Limit(parser);
    parser.eager(true);
    Code failed;
    const size_t used = parser.put(asio::buffer(bytes.data(), bytes.size()), failed);
    if (failed || !parser.is_done() || used == 0) break;
    const Answer answer = AnswerOf(answerer, parser);
    ++answered;
    if (Header(answer, parser.keep_alive()).find("\r\n\r\n") == std::string::npos) break;
    bytes.remove_prefix(used);
  }
  return answered;
}

}  // namespace vramscope::serve
