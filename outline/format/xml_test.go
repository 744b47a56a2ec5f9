package format

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// oracleXML finds the elements of a document with encoding/xml.
func oracleXML(data []byte) (out []keyAt, ok bool) {
	dec := xml.NewDecoder(bytes.NewReader(data))
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	dec.Entity = xml.HTMLEntity
	text := hashline.NewText(data)
	var open []int
	for {
		start := int(dec.InputOffset())
		tok, err := dec.RawToken()
		if err != nil {
			return out, err == io.EOF && len(open) == 0
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			name := tok.Name.Local
			if tok.Name.Space != "" {
				name = tok.Name.Space + ":" + name
			}
			open = append(open, len(out))
			out = append(out, keyAt{name, text.LineAt(start), 0})
		case xml.EndElement:
			if len(open) == 0 {
				return nil, false
			}
			out[open[len(open)-1]].End = text.LineAt(int(dec.InputOffset()) - 1)
			open = open[:len(open)-1]
		}
	}
}

func checkXML(t *testing.T, name string, data []byte) bool {
	t.Helper()
	want, ok := oracleXML(data)
	list := mustScan(t, "xml", data)
	if !ok || xml.Unmarshal(data, new(struct{})) != nil || len(want) > MaxChildren {
		return false
	}
	var got []keyAt
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		got = append(got, keyAt{s.Name, s.Start, s.End})
		return true
	})
	if diff := gocmp.Diff(want, got); diff != "" || list.Why != "" {
		t.Errorf("%s: %s (-encoding/xml +ours) %s", name, list.Why, diff)
	}
	return true
}

func TestXMLAgainstLibrary(t *testing.T) {
	n := 0
	for _, ext := range []string{".xml", ".svg", ".plist"} {
		for _, f := range realFiles(t, ext, 1<<20, 500) {
			if checkXML(t, f.name, f.data) {
				n++
			}
		}
	}
	t.Logf("%d real files compared", n)
	rng := rand.New(rand.NewPCG(19, 20))
	for range 500 {
		if data := randomXML(rng); !checkXML(t, string(data), data) {
			t.Fatalf("the generator wrote what encoding/xml refuses:\n%s", data)
		}
	}
}

func randomXML(rng *rand.Rand) []byte {
	var out bytes.Buffer
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	var element func(depth int)
	element = func(depth int) {
		name := pick("a", "b-c", "d.e", "x:y")
		fmt.Fprintf(&out, "<%s%s", name, pick("", "\n", " k='>'", " k=\"/>\"\n l='\"'"))
		if rng.IntN(4) == 0 || depth > 5 {
			out.WriteString("/>")
			return
		}
		out.WriteString(">")
		for range rng.IntN(4) {
			switch rng.IntN(5) {
			case 0:
				out.WriteString(pick("text", "\n", " &amp; ", "a > b"))
			case 1:
				out.WriteString(pick("<!-- <no> -->", "<![CDATA[<no>\n]]>", "<?pi <no> ?>"))
			default:
				element(depth + 1)
			}
		}
		fmt.Fprintf(&out, "</%s%s>", name, pick("", " ", "\n"))
	}
	out.WriteString(pick("", "<?xml version=\"1.0\"?>\n", "<!DOCTYPE a>\n"))
	element(0)
	return out.Bytes()
}

func TestXMLHostile(t *testing.T) {
	tests := map[string]string{
		"open":     huge("<a>", 3<<20),
		"closing":  huge("</a>", 3<<20),
		"angles":   huge("<", 10<<20),
		"quotes":   huge("<a b=\"", 1<<19),
		"comments": huge("<!--", 1<<20),
		"doctype":  huge("<!a [", 1<<20),
		"mixed":    huge("<a><b></a>", 1<<18),
		"flat":     "<r>" + huge("<a/>\n", 1<<18) + "</r>",
		"names":    huge("<"+huge("n", 1000)+">", 10000),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) { mustScan(t, "xml", []byte(data)) })
	}
}

func FuzzXML(f *testing.F) {
	f.Add([]byte("<?xml?><a b='c'><d/>x<!-- --></a>"))
	f.Add([]byte("<!DOCTYPE a [<!ENTITY b \"c\">]><a><b></a></c><![CDATA["))
	f.Fuzz(func(t *testing.T, data []byte) { mustScan(t, "xml", data) })
}
