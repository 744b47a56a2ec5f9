package hashline

import (
	"errors"
	"strings"
	"testing"
)

func TestParseAnchorAsModelsWriteIt(t *testing.T) {
	want := Anchor{Line: 42, Hash: 0x5b0a, Width: 4}
	if want.String() != "42#RXZT" {
		t.Fatalf("String = %s", want)
	}
	for _, s := range []string{
		"42#RXZT",
		"42#RXZT:",
		"42#RXZT:func main() {",
		"42#RXZT:a:b#c",
		" 42#RXZT",
		">>> 42#RXZT:x",
		"+42#RXZT",
		"-42#RXZT:gone",
		"* 42#RXZT",
		"+ - > * 42#RXZT",
	} {
		got, err := ParseAnchor(s)
		if err != nil || got != want {
			t.Errorf("ParseAnchor(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	for s, want := range map[string]Anchor{
		"1#ZZ":            {1, 0, 2},
		"7#PMQ":           {7, 0x123, 3},
		"2147483647#HHHH": {1<<31 - 1, 0xffff, 4},
	} {
		if got, err := ParseAnchor(s); err != nil || got != want {
			t.Errorf("ParseAnchor(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
}

func TestParseAnchorMalformed(t *testing.T) {
	for s, why := range map[string]string{
		"":                             "it is empty",
		" > ":                          "it is empty",
		":content":                     "it is empty",
		"42":                           "there is no #",
		"42:RXZT":                      "there is no #",
		"#RXZT":                        "not a decimal number",
		"x#RXZT":                       "not a decimal number",
		"4 2#RXZT":                     "not a decimal number",
		"4.2#RXZT":                     "not a decimal number",
		"\t42#RXZT":                    "not a decimal number",
		"L42#RXZT":                     "not a decimal number",
		"٤٢#RXZT":                      "not a decimal number",
		"0#RXZT":                       "lines count from 1",
		"042#RXZT":                     "without leading zeros",
		"2147483648#RXZT":              "too large",
		"99999999999999999999999#RXZT": "too large",
		"42#":                          "this has 0",
		"42#R":                         "this has 1",
		"42#RXZTZ":                     "this has 5",
		"42#rxzt":                      "only the capital letters",
		"42#RXZA":                      "only the capital letters",
		"42#RX42":                      "only the capital letters",
		"42#RX ":                       "only the capital letters",
		"42#RXé":                       "only the capital letters",
		"42##XZT":                      "only the capital letters",
		"42#RXZT 1":                    "this has 6",
	} {
		a, err := ParseAnchor(s)
		if !errors.Is(err, ErrAnchor) || !strings.Contains(err.Error(), why) {
			t.Errorf("ParseAnchor(%q) = %v, %v; want an error that says %q", s, a, err, why)
			continue
		}
		if !strings.Contains(err.Error(), "LINE#HASH") {
			t.Errorf("ParseAnchor(%q): %v does not say what to write", s, err)
		}
	}
	_, err := ParseAnchor(strings.Repeat("long", 1000))
	if len(err.Error()) > 300 {
		t.Errorf("the error quotes %d bytes of the anchor", len(err.Error()))
	}
}

func TestAnchorMatchesAtItsWidth(t *testing.T) {
	text := NewText([]byte("alpha\nbeta\ngamma\n"))
	for n := 1; n <= 3; n++ {
		for w := MinWidth; w <= MaxWidth; w++ {
			a := text.Anchor(n, w)
			if !a.Matches(text.Hash(n)) {
				t.Errorf("%v does not match its own line", a)
			}
			parsed, err := ParseAnchor(a.String())
			if err != nil || parsed != a {
				t.Errorf("ParseAnchor(%v) = %v, %v", a, parsed, err)
			}
			if a.Matches(text.Hash(n) ^ 1) {
				t.Errorf("%v matches a hash whose last bit differs", a)
			}
			if high := text.Hash(n) ^ 1<<(4*w); w < MaxWidth && !a.Matches(high) {
				t.Errorf("%v looks at letters it does not show", a)
			}
		}
	}
}

func FuzzParseAnchor(f *testing.F) {
	for _, s := range []string{"42#RXZT", "> 1#ZZ:x", "7#PMQ", "0#ZZ", "42#rx", "1#ZZZZZ", "--3#HH"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAnchor(s)
		if err != nil {
			if !errors.Is(err, ErrAnchor) || a != (Anchor{}) {
				t.Fatalf("ParseAnchor(%q) = %v, %v", s, a, err)
			}
			return
		}
		body, _, _ := strings.Cut(strings.TrimLeft(s, " >+-*"), ":")
		if a.String() != body {
			t.Fatalf("ParseAnchor(%q).String() = %q, want %q", s, a, body)
		}
		if again, err := ParseAnchor(a.String()); err != nil || again != a {
			t.Fatalf("ParseAnchor(%q) = %v, %v", a, again, err)
		}
	})
}
