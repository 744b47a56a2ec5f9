package rpc_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeExchange replays the exchange of README.md, to the letter but for
// what it writes as …: the snapshot and long lists.
func TestReadmeExchange(t *testing.T) {
	b, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```(\\w+) (\\S+)\n(.*?)^```$").FindAllStringSubmatch(string(b), -1)
	d := newDaemon(t)
	a := d.connect()
	replies := 0
	for _, block := range blocks {
		if name, ok := strings.CutPrefix(block[2], "file="); ok {
			d.write(name, block[3])
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(block[3]), "\n") {
			line = strings.ReplaceAll(line, "ROOT", d.dir)
			if request, ok := strings.CutPrefix(line, "-> "); ok {
				a.write(request)
				continue
			}
			want, ok := strings.CutPrefix(line, "<- ")
			if !ok {
				t.Fatalf("neither -> nor <-: %q", line)
			}
			replies++
			got, err := a.in.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "…", ".*?")
			if !regexp.MustCompile("^" + pattern + "\n$").MatchString(got) {
				t.Errorf("the README says\n%s\nand the daemon\n%s", want, got)
			}
		}
	}
	if replies < 3 {
		t.Errorf("only %d replies were compared", replies)
	}
}
