package rpc_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"mapd/hashline"
	"mapd/rpc"
	"mapd/rpc/wire"
)

// numbered returns a Go file of n lines in which line i names i.
func numbered(n int) string {
	var b strings.Builder
	b.WriteString("package p\n")
	for i := 2; i <= n; i++ {
		fmt.Fprintf(&b, "var v%d = %d\n", i, i)
	}
	return b.String()
}

func TestReadShowsAnchoredLines(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", "alpha\nbeta\r\n\ngamma")
	r := d.session().read(`{"path":"a.txt"}`)
	want := "1#" + hash("", "alpha", "beta") + ":alpha\n" +
		"2#" + hash("alpha", "beta", "") + ":beta\n" +
		"3#" + hash("beta", "", "gamma") + ":\n" +
		"4#" + hash("", "gamma", "") + ":gamma"
	if diff := cmp.Diff(want, text(r)); diff != "" {
		t.Error(diff)
	}
	wantDetails := wire.ReadDetails{
		FilePath: filepath.Join(d.dir, "a.txt"), Language: "text", TotalLines: 4, TotalBytes: 18,
		Ranges:     []hashline.Range{{Start: 1, End: 4}},
		Truncation: wire.Truncation{ShownLines: 4, TotalLines: 4, ShownBytes: 18, TotalBytes: 18},
	}
	if diff := cmp.Diff(wantDetails, r.Details); diff != "" {
		t.Error(diff)
	}
}

func hash(prev, line, next string) string {
	return string(hashline.Sum16([]byte(prev), []byte(line), []byte(next)).Append(nil, 4))
}

func TestReadWithoutAnchors(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", "alpha\nbeta\n")
	if got := text(d.session().read(`{"path":"a.txt","anchors":false}`)); got != "alpha\nbeta" {
		t.Errorf("got %q", got)
	}
}

func TestReadAnchorWidth(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", "alpha\n")
	full := hash("", "alpha", "")
	got := text(d.session(`{"anchors":{"width":2}}`).read(`{"path":"a.txt"}`))
	if want := "1#" + full[2:] + ":alpha"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadTruncatedAddsMapAndNotice(t *testing.T) {
	d := newDaemon(t)
	d.write("big.go", numbered(5000))
	a := d.session()
	r := a.read(`{"path":"big.go"}`)
	if len(r.Content) != 2 {
		t.Fatalf("%d blocks, want the lines and the map", len(r.Content))
	}
	notice := "\n\n[Showing lines 1-2000 of 5000. Use offset=2001 to continue.]"
	if all := text(r); !strings.HasSuffix(r.Content[0].Text, notice) || strings.Count(all, "[Showing") != 1 {
		t.Errorf("the notice is not once at the end of the lines: …%q", tail(r.Content[0].Text))
	}
	if !strings.Contains(r.Content[1].Text, "v4999") {
		t.Error("the map does not reach the end of the file")
	}
	want := wire.Truncation{Truncated: true, By: "lines", ShownLines: 2000, TotalLines: 5000, TotalBytes: r.Details.TotalBytes, ShownBytes: r.Details.Truncation.ShownBytes}
	if diff := cmp.Diff(want, r.Details.Truncation); diff != "" {
		t.Error(diff)
	}
	if r.Details.Next == nil || r.Details.Next.Offset != 2001 {
		t.Fatalf("next is %+v", r.Details.Next)
	}
	if r.Details.Map == nil || r.Details.Map.Bytes != len(r.Content[1].Text) || *r.Details.SymbolCount != 4999 {
		t.Errorf("map %+v, symbols %v", r.Details.Map, r.Details.SymbolCount)
	}

	byOffset := a.read(`{"path":"big.go","offset":2001}`)
	byCursor := a.read(fmt.Sprintf(`{"path":"big.go","cursor":%q}`, r.Details.Next.Cursor))
	if text(byOffset) != text(byCursor) || !strings.HasPrefix(text(byOffset), "2001#") {
		t.Errorf("offset and cursor go on differently: %.40q, %.40q", text(byOffset), text(byCursor))
	}
	if len(byOffset.Content) != 1 {
		t.Error("a read from an offset has a map")
	}
}

func tail(s string) string { return s[max(0, len(s)-120):] }

// The text as sent, notice included, keeps maxBytes, for every way in which a
// view can end.
func TestReadKeepsMaxBytes(t *testing.T) {
	d := newDaemon(t)
	d.write("long.txt", strings.Repeat(strings.Repeat("x", 90)+"\n", 300)+strings.Repeat("é", 4000)+"\n")
	a := d.session()
	for _, most := range []int{200, 1000, 4096, 20_000} {
		for _, view := range []string{`"offset":1`, `"ranges":[{"start":1,"end":40},{"start":50,"end":301}]`, `"ranges":[{"start":301,"end":301}]`} {
			r := a.read(fmt.Sprintf(`{"path":"long.txt","map":"never","maxBytes":%d,%s}`, most, view))
			size := 0
			for _, c := range r.Content {
				size += len(c.Text)
			}
			if size > most {
				t.Errorf("maxBytes %d, %s: sent %d", most, view, size)
			}
			if size < most-150 && r.Details.Truncation.By == "bytes" && most > 200 {
				t.Errorf("maxBytes %d, %s: only %d used", most, view, size)
			}
		}
	}
}

// A file of one line of a megabyte can be read to its end.
func TestReadOneLongLine(t *testing.T) {
	d := newDaemon(t)
	content := strings.Repeat("var a=1;é", 110_000)
	d.write("min.js", content)
	a := d.session()
	r := a.read(`{"path":"min.js","map":"never"}`)
	cut := []wire.CutLine{{Line: 1, ShownBytes: 2000, TotalBytes: len(content)}}
	if diff := cmp.Diff(cut, r.Details.CutLines); diff != "" {
		t.Error(diff)
	}
	if by := r.Details.Truncation.By; by != "line" {
		t.Errorf("truncated by %q", by)
	}
	var got strings.Builder
	for reads := 0; ; reads++ {
		body := text(r)
		if r.Details.Next != nil {
			i := strings.LastIndex(body, "\n\n[Showing lines 1-1 of 1. Use cursor="+r.Details.Next.Cursor+" to continue.]")
			if i < 0 {
				t.Fatalf("no notice in %q", tail(body))
			}
			body = body[:i]
		}
		_, shown, _ := strings.Cut(body, ":")
		got.WriteString(shown)
		if r.Details.Next == nil {
			break
		}
		if reads > 1000 {
			t.Fatal("the cursors do not end")
		}
		r = a.read(fmt.Sprintf(`{"path":"min.js","cursor":%q}`, r.Details.Next.Cursor))
	}
	if got.String() != content {
		t.Errorf("the pieces make %d bytes, want %d", got.Len(), len(content))
	}
}

func TestReadRanges(t *testing.T) {
	d := newDaemon(t)
	d.write("a.go", numbered(50))
	a := d.session()
	for _, c := range []struct {
		ranges string
		want   []hashline.Range
	}{
		{`[{"start":10,"end":20}]`, []hashline.Range{{Start: 10, End: 20}}},
		{`[{"start":1,"end":5},{"start":10,"end":15}]`, []hashline.Range{{Start: 1, End: 5}, {Start: 10, End: 15}}},
		{`[{"start":10,"end":15},{"start":1,"end":5}]`, []hashline.Range{{Start: 1, End: 5}, {Start: 10, End: 15}}},
		{`[{"start":1,"end":5},{"start":6,"end":9},{"start":3,"end":4}]`, []hashline.Range{{Start: 1, End: 9}}},
		{`[{"start":45,"end":900}]`, []hashline.Range{{Start: 45, End: 50}}},
		{`[]`, []hashline.Range{{Start: 1, End: 50}}},
	} {
		r := a.read(`{"path":"a.go","anchors":false,"ranges":` + c.ranges + `}`)
		if diff := cmp.Diff(c.want, r.Details.Ranges); diff != "" {
			t.Errorf("%s: %s", c.ranges, diff)
			continue
		}
		all := strings.Split(numbered(50), "\n")
		for i, b := range r.Content {
			if want := strings.Join(all[c.want[i].Start-1:c.want[i].End], "\n"); b.Text != want {
				t.Errorf("%s block %d: %q, want %q", c.ranges, i, b.Text, want)
			}
		}
	}
}

func TestReadRangesContinueByCursor(t *testing.T) {
	d := newDaemon(t)
	d.write("a.go", numbered(50))
	a := d.session()
	r := a.read(`{"path":"a.go","maxLines":8,"ranges":[{"start":1,"end":5},{"start":10,"end":15}]}`)
	if !strings.HasSuffix(r.Content[1].Text, "[Showing lines 1-12 of 50. Use cursor="+r.Details.Next.Cursor+" to continue.]") {
		t.Errorf("notice: %q", tail(r.Content[1].Text))
	}
	rest := a.read(fmt.Sprintf(`{"path":"a.go","cursor":%q}`, r.Details.Next.Cursor))
	if diff := cmp.Diff([]hashline.Range{{Start: 13, End: 15}}, rest.Details.Ranges); diff != "" {
		t.Error(diff)
	}
	d.write("copy.go", numbered(50))
	if code := a.call("mapd/read", fmt.Sprintf(`{"path":"copy.go","cursor":%q}`, r.Details.Next.Cursor)).code(); code != "invalid_cursor" {
		t.Errorf("a cursor of another file with the same bytes gives %q", code)
	}
	d.write("a.go", numbered(51))
	if code := a.call("mapd/read", fmt.Sprintf(`{"path":"a.go","cursor":%q}`, r.Details.Next.Cursor)).code(); code != "invalid_cursor" {
		t.Errorf("a cursor of another version gives %q", code)
	}
}

func TestReadSymbol(t *testing.T) {
	d := newDaemon(t)
	d.write("a.go", "package p\n\ntype T struct{}\n\n// Listen waits.\n// It is slow.\nfunc (t *T) Listen() int {\n\treturn 1\n}\n\nfunc other() {}\n")
	a := d.session()
	r := a.read(`{"path":"a.go","symbol":"T.Listen","anchors":false}`)
	if got, want := text(r), "// Listen waits.\n// It is slow.\nfunc (t *T) Listen() int {\n\treturn 1\n}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if diff := cmp.Diff(&wire.SymbolInfo{Name: "T.Listen", Kind: "method", Start: 7, End: 9}, r.Details.Symbol); diff != "" {
		t.Error(diff)
	}
	m := a.call("mapd/read", `{"path":"a.go","symbol":"T.Lissten"}`)
	if m.code() != "symbol_not_found" || !strings.Contains(string(m.Error.Data), "Listen") {
		t.Errorf("a miss gives %+v %s", m.Error, m.Error.Data)
	}
}

// An element that the outline leaves out is found in the text.
func TestReadSymbolOfData(t *testing.T) {
	d := newDaemon(t)
	d.write("a.json", "{\"list\":[\n"+strings.Repeat("{\"n\":1},\n", 700)+"{\"n\":2}]}\n")
	r := d.session().read(`{"path":"a.json","symbol":"list[700].n","anchors":false}`)
	if text(r) != "{\"n\":2}]}" || r.Details.Ranges[0].Start != 702 {
		t.Errorf("got %q, %+v", text(r), r.Details.Ranges)
	}
}

func TestReadEmptyFile(t *testing.T) {
	d := newDaemon(t)
	d.write("empty", "")
	a := d.session()
	for _, params := range []string{`{"path":"empty"}`, `{"path":"empty","offset":1}`, `{"path":"empty","limit":10}`} {
		r := a.read(params)
		if len(r.Content) != 0 || len(r.Details.Ranges) != 0 || r.Details.Truncation.Truncated {
			t.Errorf("%s: %+v", params, r)
		}
	}
	m := a.call("mapd/read", `{"path":"empty"}`)
	if !strings.Contains(string(m.Result), `"content":[]`) || !strings.Contains(string(m.Result), `"ranges":[]`) {
		t.Errorf("empty lists are not lists: %s", m.Result)
	}
}

func TestReadRefusals(t *testing.T) {
	d := newDaemon(t)
	d.write("a.go", numbered(10))
	d.write("sub/b.txt", "b\n")
	d.write("bin", "a\x00b")
	d.write("secret", "s")
	if err := unix.Mkfifo(filepath.Join(d.dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "o.txt")
	if err := os.WriteFile(outside, []byte("o\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(d.dir, "link")); err != nil {
		t.Fatal(err)
	}
	a := d.session()
	for _, c := range []struct{ params, code, message string }{
		{`{"path":"nope.go"}`, "not_found", "nope.go"},
		{`{"path":"a.go/x"}`, "not_found", "a.go/x"},
		{`{"path":"sub"}`, "is_directory", "EISDIR"},
		{`{"path":"bin"}`, "binary_file", "binary"},
		{`{"path":"bin","images":true}`, "binary_file", "binary"},
		{`{"path":"fifo"}`, "not_a_file", "pipe"},
		{`{"path":"link"}`, "outside_workspace", "outside"},
		{`{"path":"../x"}`, "outside_workspace", "outside"},
		{`{"path":"` + outside + `"}`, "outside_workspace", "outside"},
		{`{"path":"a.go","offset":11}`, "invalid_range", "10 lines"},
		{`{"path":"a.go","ranges":[{"start":1,"end":2},{"start":11,"end":12}]}`, "invalid_range", "11-12"},
		{`{"path":"a.go","ranges":[{"start":0,"end":2}]}`, "invalid_params", "start:0"},
		{`{"path":"a.go","ranges":[{"start":3,"end":2}]}`, "invalid_params", "end:2"},
		{`{"path":"a.go","offset":0}`, "invalid_params", "offset"},
		{`{"path":"a.go","limit":0}`, "invalid_params", "limit"},
		{`{"path":"a.go","maxBytes":-1}`, "invalid_params", "maxBytes"},
		{`{"path":"a.go","map":"sometimes"}`, "invalid_params", "sometimes"},
		{`{"path":"a.go","delivery":"post"}`, "invalid_params", "post"},
		{`{"path":"a.go","symbol":"x","offset":3}`, "invalid_params", "at most one"},
		{`{"path":"a.go","symbol":"x","ranges":[{"start":1,"end":2}]}`, "invalid_params", "at most one"},
		{`{"path":"a.go","cursor":"!"}`, "invalid_cursor", "again"},
		{`{"path":"a.go","lines":3}`, "invalid_params", "lines"},
		{`{"path":"a.go","offset":"3"}`, "invalid_params", "offset"},
		{`{"path":["a.go"]}`, "invalid_params", "path"},
		{`{}`, "invalid_params", "path"},
		{`[1]`, "invalid_params", ""},
		{`{"uri":"http://x/a.go"}`, "invalid_params", "file:///"},
		{`{"path":"a\u0000.go"}`, "invalid_params", "name"},
	} {
		m := a.call("mapd/read", c.params)
		if m.code() != c.code || !strings.Contains(m.Error.Message, c.message) {
			t.Errorf("%s: %q %+v; want %s, %q", c.params, m.code(), m.Error, c.code, c.message)
		}
	}
	m := a.call("mapd/read", `{"path":"sub"}`)
	if !strings.HasPrefix(m.Error.Message, "EISDIR") || !strings.Contains(m.Error.Message, "b.txt") || !strings.Contains(string(m.Error.Data), `"b.txt"`) {
		t.Errorf("directory: %+v %s", m.Error, m.Error.Data)
	}
}

func TestReadByURI(t *testing.T) {
	d := newDaemon(t)
	d.write("a b%.txt", "x\n")
	d.write("caf\xe9.txt", "latin\n")
	a := d.session()
	if got := text(a.read(`{"uri":"file://` + d.dir + `/a%20b%25.txt","anchors":false}`)); got != "x" {
		t.Errorf("got %q", got)
	}
	r := a.read(`{"uri":"file://` + d.dir + `/caf%E9.txt","anchors":false}`)
	if text(r) != "latin" || r.Path != "caf\ufffd.txt" {
		t.Errorf("got %q of %q", text(r), r.Path)
	}
}

func TestReadImage(t *testing.T) {
	d := newDaemon(t)
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"
	d.write("i.png", png)
	a := d.session()
	m := a.call("mapd/read", `{"path":"i.png"}`)
	if m.code() != "binary_file" || !strings.Contains(string(m.Error.Data), `"mimeType":"image/png"`) {
		t.Errorf("without images: %+v %s", m.Error, m.Error.Data)
	}
	r := a.read(`{"path":"i.png","images":true}`)
	want := []wire.Content{{Type: "image", MimeType: "image/png", Data: base64.StdEncoding.EncodeToString([]byte(png))}}
	if diff := cmp.Diff(want, r.Content); diff != "" {
		t.Error(diff)
	}
}

func TestReadLossy(t *testing.T) {
	d := newDaemon(t)
	d.write("l.txt", "ok\ncaf\xe9\n")
	a := d.session()
	r := a.read(`{"path":"l.txt","anchors":false}`)
	if text(r) != "ok\ncaf\ufffd" || !r.Details.Lossy {
		t.Errorf("got %q, lossy %v", text(r), r.Details.Lossy)
	}
	if r := a.read(`{"path":"l.txt","ranges":[{"start":1,"end":1}]}`); r.Details.Lossy {
		t.Error("a view without the invalid bytes is said to be lossy")
	}
}

func TestMapModes(t *testing.T) {
	d := newDaemon(t)
	d.write("a.go", "package p\n\nfunc f() {}\n")
	a := d.session()
	for _, c := range []struct {
		params string
		blocks int
		shown  int
	}{
		{`{"path":"a.go"}`, 1, 3},
		{`{"path":"a.go","map":"always"}`, 2, 3},
		{`{"path":"a.go","map":"only"}`, 1, 0},
		{`{"path":"a.go","map":"never","maxLines":1}`, 1, 1},
		{`{"path":"a.go","map":"auto","maxLines":1}`, 2, 1},
		{`{"path":"a.go","map":"auto","offset":1,"limit":2,"maxLines":1}`, 1, 1},
	} {
		r := a.read(c.params)
		if len(r.Content) != c.blocks || r.Details.Truncation.ShownLines != c.shown {
			t.Errorf("%s: %d blocks, %d lines; want %d, %d", c.params, len(r.Content), r.Details.Truncation.ShownLines, c.blocks, c.shown)
		}
		hasMap := strings.Contains(r.Content[len(r.Content)-1].Text, ": [3]")
		if hasMap != (r.Details.Map != nil) || hasMap != (r.Details.SymbolCount != nil) {
			t.Errorf("%s: map shown %v, details %+v", c.params, hasMap, r.Details)
		}
	}
}

// In separate delivery the map follows its reply, once.
func TestSeparateDelivery(t *testing.T) {
	d := newDaemon(t)
	d.write("a.go", numbered(3000))
	a := d.session(`{"delivery":"separate"}`)
	r := a.read(`{"path":"a.go","toolCallId":"call-7"}`)
	if len(r.Content) != 1 {
		t.Fatalf("%d blocks", len(r.Content))
	}
	m := a.next()
	if m.Method != "mapd/fileMap" {
		t.Fatalf("after the reply comes %+v", m)
	}
	var got wire.FileMap
	if err := json.Unmarshal(m.Params, &got); err != nil {
		t.Fatal(err)
	}
	want := wire.FileMap{
		CustomType: "file-map", Content: got.Content, Display: true,
		Details: wire.FileMapDetails{FilePath: filepath.Join(d.dir, "a.go"), TotalLines: 3000, TotalBytes: r.Details.TotalBytes, SymbolCount: 2999, Language: "go"},
		Summary: "[File Map: 2999 symbols, 3000 lines - Ctrl+O]", ToolCallID: "call-7",
	}
	if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(got.Content, "v2999") {
		t.Error(diff)
	}
	if inline := a.read(`{"path":"a.go","delivery":"inline"}`); len(inline.Content) != 2 {
		t.Errorf("inline on request: %d blocks", len(inline.Content))
	}
	a.read(`{"path":"a.go","offset":5,"limit":2}`) // nothing follows: read checks the order
	a.read(`{"path":"a.go","offset":5,"limit":2}`)
}

// Bytes are read after the request: what stat says does not matter.
func TestBytesAreTruth(t *testing.T) {
	d := newDaemon(t)
	path := d.write("a.txt", "one\n")
	a := d.session()
	first := a.read(`{"path":"a.txt","anchors":false}`)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	d.write("a.txt", "two\n")
	if err := os.Chtimes(path, time.Now(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	second := a.read(`{"path":"a.txt","anchors":false}`)
	d.write("a.txt", "one\n")
	third := a.read(`{"path":"a.txt","anchors":false}`)
	if text(first) != "one" || text(second) != "two" || text(third) != "one" {
		t.Errorf("read %q, %q, %q", text(first), text(second), text(third))
	}
	if first.Snapshot == second.Snapshot || first.Snapshot != third.Snapshot {
		t.Errorf("snapshots %s, %s, %s", first.Snapshot, second.Snapshot, third.Snapshot)
	}
}

// 32 reads at once on one connection: every answer arrives, each its own.
func TestParallelReads(t *testing.T) {
	d := newDaemon(t)
	var params []string
	for i := range 29 {
		lines := 20 + i
		if i%7 == 0 {
			lines = 30_000
		}
		d.write(fmt.Sprintf("f%d.go", i), fmt.Sprintf("// file %d\n", i)+numbered(lines))
		params = append(params, fmt.Sprintf(`{"path":"f%d.go","anchors":false}`, i))
	}
	d.write("sub/x", "x")
	d.write("bin", "\x00")
	params = append(params, `{"path":"sub"}`, `{"path":"bin"}`, `{"path":"missing"}`)
	a := d.session()
	asked := map[int]int{}
	for i, p := range params {
		asked[a.send("mapd/read", p)] = i
	}
	codes := map[int]string{29: "is_directory", 30: "binary_file", 31: "not_found"}
	for range params {
		m := a.next()
		i, ok := asked[*m.ID]
		if !ok {
			t.Fatalf("reply %d was not asked for, or came twice", *m.ID)
		}
		delete(asked, *m.ID)
		if m.code() != codes[i] {
			t.Errorf("read %d: %+v", i, m.Error)
		}
		if codes[i] == "" && !strings.Contains(string(m.Result), fmt.Sprintf("// file %d\\n", i)) {
			t.Errorf("read %d got %.100s", i, m.Result)
		}
	}
}

func TestReadMany(t *testing.T) {
	d := newDaemon(t)
	d.write("a.go", numbered(3000))
	d.write("b.txt", "b\n")
	a := d.session(`{"delivery":"separate"}`)
	m := a.call("mapd/readMany", `{"reads":[{"path":"a.go","toolCallId":"x"},{"path":"none"},{"path":"b.txt","anchors":false},{"path":"b.txt","nope":1}]}`)
	var mixed wire.ReadManyResult
	if err := json.Unmarshal(m.Result, &mixed); err != nil || len(mixed.Results) != 4 || mixed.Results[2].OK == nil || mixed.Results[3].Error == nil || mixed.Results[3].Error.Code != -32602 {
		t.Errorf("an unknown field in an entry: %s %+v", m.Result, m.Error)
	}
	a.next() // the map of a.go
	m = a.call("mapd/readMany", `{"reads":[{"path":"a.go","toolCallId":"x"},{"path":"none"},{"path":"b.txt","anchors":false}]}`)
	var r wire.ReadManyResult
	if err := json.Unmarshal(m.Result, &r); err != nil || len(r.Results) != 3 {
		t.Fatalf("%v %s", err, m.Result)
	}
	if r.Results[0].OK == nil || r.Results[1].Error == nil || r.Results[2].OK == nil || text(*r.Results[2].OK) != "b" {
		t.Errorf("results %s", m.Result)
	}
	if r.Results[1].Error.Code != -32803 || !strings.Contains(string(r.Results[1].Error.Data), `"not_found"`) {
		t.Errorf("error %+v", r.Results[1].Error)
	}
	if m := a.next(); m.Method != "mapd/fileMap" || !strings.Contains(string(m.Params), `"toolCallId":"x"`) {
		t.Errorf("after the reply comes %+v", m)
	}
	for n, want := range map[int]string{0: "", 256: "", 257: "invalid_params"} {
		reads := strings.TrimSuffix(strings.Repeat(`{"path":"b.txt"},`, n), ",")
		if code := a.call("mapd/readMany", `{"reads":[`+reads+`]}`).code(); code != want {
			t.Errorf("%d reads: %q", n, code)
		}
	}
	if code := a.call("mapd/readMany", `{}`).code(); code != "invalid_params" {
		t.Errorf("no reads: %q", code)
	}
}

// TestLargeReadsAreWaitedFor asks for more at once than may wait for a peer: one
// that reads gets all of it, one by one or in a batch.
func TestLargeReadsAreWaitedFor(t *testing.T) {
	d := newDaemon(t, func(o *rpc.Options) { o.Limits.Conn.Outgoing = 20 << 20 })
	d.write("large.txt", strings.Repeat(strings.Repeat("x", 99)+"\n", 30_000))
	a := d.session()
	const reads = 15
	for range reads {
		a.send("mapd/read", `{"path":"large.txt","maxLines":30000,"maxBytes":4000000,"map":"never"}`)
	}
	for i := range reads {
		m := a.next()
		if m.Error != nil {
			t.Fatalf("answer %d: %s", i, m.Error.Message)
		}
		if len(m.Result) < 3_000_000 {
			t.Errorf("answer %d has %d bytes", i, len(m.Result))
		}
	}
	const read = `{"jsonrpc":"2.0","id":%d,"method":"mapd/read","params":{"path":"large.txt","maxLines":30000,"maxBytes":4000000,"map":"never"}}`
	a.write("[" + fmt.Sprintf(read, 1001) + "," + fmt.Sprintf(read, 1002) + "]")
	batch, err := a.in.ReadBytes('\n')
	if err != nil || batch[0] != '[' || len(batch) < 6_000_000 {
		t.Errorf("a batch of two: %d bytes, %v", len(batch), err)
	}
}

// The same of large maps.
func TestLargeMapsAreWaitedFor(t *testing.T) {
	d := newDaemon(t, func(o *rpc.Options) { o.Limits.Conn.Outgoing = 12 << 20 })
	var b strings.Builder
	b.WriteString("package p\n")
	for i := range 30_000 {
		fmt.Fprintf(&b, "func f%d(one, two int) (three string) { return }\n", i)
	}
	d.write("large.go", b.String())
	a := d.session()
	const maps = 12
	for range maps {
		a.send("mapd/map", `{"path":"large.go"}`)
	}
	for i := range maps {
		m := a.next()
		if m.Error != nil {
			t.Fatalf("answer %d: %s", i, m.Error.Message)
		}
		if len(m.Result) < 2_000_000 {
			t.Errorf("answer %d has %d bytes", i, len(m.Result))
		}
	}
}
