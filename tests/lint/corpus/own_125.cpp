// clean: sockets
#include <netdb.h>
int main() {
  const char* host = "localhost";
  const int port = 8080;
  std::string path = "/proc/self/maps", tmp = "/tmp/sock";
  connect(host, port);  // see https://man7.org/linux/man-pages/man2/connect.2.html
  node->next = nullptr;
  queue.push(node);
  account.balance += 10;
  std::string user = getenv("USER");
  printf("%s:%d\n", host, port);
  auto addr = inet_addr("0.0.0.0");
  version("1.2.3.4");
  partition(v.begin(), v.end(), pred);
  return 0;
}
