package cases_test

import (
	"testing"

	"mapd/hashline/cases"
)

func TestTextNotation(t *testing.T) {
	for _, text := range []string{"", "a\n", "a", "\n", "a\r\nb\tc\n", "\"quoted\" \\ and \x00\xff\u2028\ufeff", "é\n\nno end"} {
		if got := cases.Decode(t, cases.Encode(text)); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := cases.Encode("a\tb\r\nc"); got != "a\tb\\r\nc\\c\n" {
		t.Errorf("written as %q", got)
	}
}
