package rpc_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocuments replays the exchanges of the documents, to the letter but for
// what they write as …: snapshots and long lists.
func TestDocuments(t *testing.T) {
	t.Run("README", func(t *testing.T) { replay(t, "../README.md", 3) })
	t.Run("PROTOCOL", func(t *testing.T) { replay(t, "PROTOCOL.md", 23) })
}

func replay(t *testing.T, document string, least int) {
	b, err := os.ReadFile(document)
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
		if block[1] == "toml" {
			continue // configuration, which the command reads
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
				t.Errorf("the document says\n%s\nand the daemon\n%s", want, got)
			}
		}
	}
	if replies < least {
		t.Errorf("only %d replies were compared", replies)
	}
}
