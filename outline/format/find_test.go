package format

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"mapd/hashline"
	"mapd/outline/symbol"
)

func mustFind(t *testing.T, lang string, data []byte, path string) (symbol.Symbol, bool) {
	t.Helper()
	s, ok, err := Find(context.Background(), lang, hashline.NewText(data), path)
	if err != nil {
		t.Fatal(err)
	}
	return s, ok
}

// TestFindWhatScanLists looks for each symbol that Scan lists: the first of each
// path is found, with the same lines.
func TestFindWhatScanLists(t *testing.T) {
	for _, f := range families {
		data := f.make(2 << 10)
		seen := map[string]bool{}
		var check func(path string, symbols []symbol.Symbol)
		check = func(path string, symbols []symbol.Symbol) {
			for _, s := range symbols {
				p := path + `["` + s.Name + `"]`
				if s.Name[0] == '[' {
					p = path + s.Name
				}
				if seen[p] || strings.Contains(s.Name, `"`) || s.Name == Elided {
					continue
				}
				seen[p] = true
				got, ok := mustFind(t, f.lang, data, p)
				want := s
				want.Children = nil
				if !ok || got.Start != want.Start || got.End != want.End || got.Name != want.Name || got.Kind != want.Kind {
					t.Fatalf("%s: %s is %+v, %v; want %+v\n%s", f.lang, p, got, ok, want, data)
				}
				check(p, s.Children)
			}
		}
		check("", mustScan(t, f.lang, data).Symbols)
		if len(seen) == 0 {
			t.Errorf("%s: nothing to find", f.lang)
		}
	}
}

func TestFindWhatScanLeavesOut(t *testing.T) {
	var array, records, rows, wide strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&array, "{\"c\": [%d, %d]},\n", i, i)
		fmt.Fprintf(&records, "{\"id\": %d}\n", i)
		fmt.Fprintf(&rows, "%d,\"two\nlines\"\n", i)
	}
	for i := range MaxChildren + 10 {
		fmt.Fprintf(&wide, "k%d: {x: [a, b]}\n", i)
	}
	json := "{\"a.b\": {\"list\": [\n" + array.String() + "0]}}"
	deep := strings.Repeat(`{"a":`+"\n", 200) + "1" + strings.Repeat("}", 200)
	tests := []struct {
		lang, data, path string
		start, end       int
	}{
		{"json", json, "a.b.list[700]", 702, 702},
		{"json", json, "$.a.b.list[700].c", 702, 702},
		{"json", json, `$["a.b"].list[700].c[1]`, 702, 702},
		{"json", json, "/a.b/list[1000]", 1002, 1002},
		{"json", json, "a.b.list[1001]", 0, 0},
		{"json", json, "a.b.list[700].d", 0, 0},
		{"json", json, "a", 0, 0},
		{"json", deep, strings.TrimPrefix(strings.Repeat(".a", 200), "."), 200, 201},
		{"jsonc", "// x\n{\"a\": [1, 2,\n],}", "a[1]", 2, 2},
		{"jsonl", records.String(), "[500]", 501, 501},
		{"jsonl", records.String(), "records[500]", 501, 501},
		{"csv", "a,b\n" + rows.String(), "[500]", 1002, 1003},
		{"yaml", wide.String(), fmt.Sprintf("k%d.x", MaxChildren+5), MaxChildren + 6, MaxChildren + 6},
		{"yaml", "a:\n" + strings.Repeat("- x\n", 300) + "- y: 1\n  z: \"open\n", "a[300].z", 303, 303},
		{"toml", "[t]\na = [" + strings.Repeat("1, ", 300) + "\n2]\n", "t.a[300]", 3, 3},
		{"edn", "{:a [" + strings.Repeat("{} ", 300) + "\n{:b 1}]}", ":a[300]:b", 2, 2},
		{"edn", "{:a [" + strings.Repeat("{} ", 300) + "\n{:b 1}]}", ":a[300].:b", 2, 2},
		{"markdown", "# A\n\n## B\n\n# C\n\n## B\ntext\n", "#C > B", 7, 8},
		{"text", "x", "x", 0, 0},
	}
	for _, tt := range tests {
		s, ok := mustFind(t, tt.lang, []byte(tt.data), tt.path)
		if ok != (tt.start > 0) || s.Start != tt.start || s.End != tt.end {
			t.Errorf("%s: %s is %q at %d-%d, %v; want %d-%d", tt.lang, tt.path, s.Name, s.Start, s.End, ok, tt.start, tt.end)
		}
	}
}

func TestFindStopsWithItsContext(t *testing.T) {
	text := hashline.NewText(lockFile(1 << 20))
	if _, ok, err := Find(&countdown{context.Background(), 2}, "json", text, "packages.none"); ok || err == nil {
		t.Errorf("found %v, error %v", ok, err)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("json", []byte(`{"a":[{"b":1}]}`), "a[0].b")
	f.Add("yaml", []byte("a:\n- b: [c\n"), "a[0].b[0]")
	f.Add("csv", []byte("a,b\n1,2\n"), "[0]")
	f.Add("toml", []byte("[a]\nb = [1,\n[c]"), "a.b[0]")
	f.Add("edn", []byte("{:a [{:b 1"), ":a[0].:b")
	f.Add("jsonc", []byte("{\"a\": 1,} {"), "a")
	f.Fuzz(func(t *testing.T, lang string, data []byte, path string) {
		if s, ok := mustFind(t, lang, data, path); ok && (s.Start < 1 || s.End < s.Start || s.End > hashline.NewText(data).Lines()) {
			t.Fatalf("%q at %d-%d", s.Name, s.Start, s.End)
		}
	})
}
