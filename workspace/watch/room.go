package watch

import (
	"os"
	"strconv"
	"strings"
)

// Room returns how many streams and watches a program may take and leave others
// as many: half of what the system gives to a user; 0 where that is not known.
func Room() (streams, watches int) {
	return half("max_user_instances"), half("max_user_watches")
}

func half(name string) int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return max(1, n/2)
}
