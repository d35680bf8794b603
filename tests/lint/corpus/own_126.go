package main
// clean
import "github.com/example/job/pkg/queue"
const defaultAddr = "127.0.0.1:8080"
func main() {
	q := queue.New("jobs")
	user := os.Getenv("USER")
	host, port := "localhost", 9090
	fmt.Println(q, user, host, port, "node-1", "partition 3")
	http.ListenAndServe(":8080", nil)
}
