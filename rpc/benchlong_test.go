package rpc_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mapd/rpc/wire"
)

// BenchmarkLongSession has one session edit a file of 2,000 lines, which it read
// once, while another program inserts and takes out a line now and then. Its
// metrics compare the first thousand edits with the last: what a session has
// behind it must not slow it down.
func BenchmarkLongSession(b *testing.B) {
	d := newDaemon(b)
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprintf("value[%d] = %d;", i, i))
	}
	d.write("a.c", strings.Join(lines, "\n")+"\n")
	c := d.dialSession()
	held := map[int]string{}
	see := func(shown string) {
		for _, m := range slotLine.FindAllStringSubmatch(strings.ReplaceAll(shown, "value", "slot"), -1) {
			var slot int
			fmt.Sscan(m[2], &slot)
			held[slot] = m[1]
		}
	}
	var read struct{ Result wire.ReadResult }
	reply := c.call(`{"jsonrpc":"2.0","id":3,"method":"mapd/read","params":{"path":"a.c","map":"never","maxBytes":1000000}}`)
	if err := json.Unmarshal(reply, &read); err != nil {
		b.Fatal(err)
	}
	see(read.Result.Content[0].Text)
	var took, news []time.Duration
	for n := 0; b.Loop(); n++ {
		foreign := n%50 == 49
		if foreign {
			text := d.content("a.c")
			if i := strings.Index(text, "// foreign\n"); i >= 0 {
				text = text[:i] + text[i+len("// foreign\n"):]
			} else {
				text = "// foreign\n" + text
			}
			d.write("a.c", text)
		}
		slot := n * 37 % 2000
		request := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"mapd/edit","params":{"path":"a.c","edits":[{"op":"replace","pos":%q,"lines":["value[%d] = %d;"]}]}}`, held[slot], slot, n+10_000)
		start := time.Now()
		reply := c.call(request)
		if since := time.Since(start); foreign {
			news = append(news, since)
		} else {
			took = append(took, since)
		}
		var m struct {
			Result wire.EditResult
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(reply, &m); err != nil || m.Error != nil && !strings.Contains(m.Error.Message, "rejected") {
			b.Fatalf("%v %.500s", err, reply)
		}
		if m.Error != nil {
			see(strings.ReplaceAll(m.Error.Message, ">>> ", ""))
			continue
		}
		for _, h := range m.Result.Anchors {
			see(h.Text)
		}
	}
	part := min(1000, len(took)/2)
	first, last := took[:part], took[len(took)-part:]
	b.ReportMetric(float64(median(last))/float64(median(first)), "last/first")
	b.ReportMetric(float64(median(last).Microseconds()), "p50-µs")
	slices.Sort(last)
	b.ReportMetric(float64(last[len(last)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(slices.Max(took).Microseconds()), "max-µs")
	if len(news) > 0 {
		b.ReportMetric(float64(median(news[:max(1, len(news)/10)]).Microseconds()), "news-first-µs")
		b.ReportMetric(float64(median(news[len(news)*9/10:]).Microseconds()), "news-last-µs")
		b.ReportMetric(float64(slices.Max(news).Microseconds()), "news-max-µs")
	}
	b.ReportMetric(0, "ns/op")
}
