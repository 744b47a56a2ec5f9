package hashline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

// TestXXH3Published holds the hash function against values published with it,
// so that the vectors below rest on the real XXH3 and not on a library's bug.
func TestXXH3Published(t *testing.T) {
	for in, want := range map[string]string{
		"":    "2d06800538d394c2",
		"a":   "e6c632b61e964e1f",
		"abc": "78af5f94892f3950",
	} {
		if got := fmt.Sprintf("%016x", xxh3.HashString(in)); got != want {
			t.Errorf("XXH3-64(%q) = %s, want %s", in, got, want)
		}
	}
	if got, want := Sum(nil).String(), "99aa06d3014798d86001c324468d497f"; got != want {
		t.Errorf("XXH3-128 of nothing = %s, want %s", got, want)
	}
}

// vectorLine is one line of a vector: the exact bytes that are hashed, their
// XXH3-64 in hexadecimal, and the anchors at widths 2, 3, 4. The last four
// digits of sum are the four letters: 0 is Z, 1 is P, 2 is M, 3 is Q, 4 is V,
// 5 is R, 6 is W, 7 is S, 8 is N, 9 is K, a is T, b is X, c is J, d is B,
// e is Y, f is H.
type vectorLine struct {
	hashed  string
	sum     string
	anchors string
}

var vectors = []struct {
	name  string
	file  string
	lines []vectorLine
}{
	{"empty file", "", nil},
	{"only a byte order mark", "\xef\xbb\xbf", nil},
	{"one line without newline", "hello", []vectorLine{
		{"\x00hello\x00", "88b4cbaa5d0e2328", "1#MN 1#QMN 1#MQMN"},
	}},
	{"one line with newline", "hello\n", []vectorLine{
		{"\x00hello\x00", "88b4cbaa5d0e2328", "1#MN 1#QMN 1#MQMN"},
	}},
	{"first, middle, last", "alpha\nbeta\ngamma\n", []vectorLine{
		{"\x00alpha\x00beta", "75acf95e6f14b356", "1#RW 1#QRW 1#XQRW"},
		{"alpha\x00beta\x00gamma", "2fcf2d56a892b7ed", "2#YB 2#SYB 2#XSYB"},
		{"beta\x00gamma\x00", "8b3430348ca81bd4", "3#BV 3#XBV 3#PXBV"},
	}},
	{"CRLF hashes as LF does", "alpha\r\nbeta\r\ngamma\r\n", []vectorLine{
		{"\x00alpha\x00beta", "75acf95e6f14b356", "1#RW 1#QRW 1#XQRW"},
		{"alpha\x00beta\x00gamma", "2fcf2d56a892b7ed", "2#YB 2#SYB 2#XSYB"},
		{"beta\x00gamma\x00", "8b3430348ca81bd4", "3#BV 3#XBV 3#PXBV"},
	}},
	{"a bare CR is content", "a\rb\nc\r", []vectorLine{
		{"\x00a\rb\x00c\r", "b75e708e0e97ce35", "1#QR 1#YQR 1#JYQR"},
		{"a\rb\x00c\r\x00", "682a069c4bc173ca", "2#JT 2#QJT 2#SQJT"},
	}},
	{"only one CR belongs to the terminator", "a\r\r\nb", []vectorLine{
		{"\x00a\r\x00b", "873421ceb5aad830", "1#QZ 1#NQZ 1#BNQZ"},
		{"a\r\x00b\x00", "997da9c7bfdb966f", "2#WH 2#WWH 2#KWWH"},
	}},
	{"a byte order mark is before line 1", "\xef\xbb\xbfalpha\nbeta", []vectorLine{
		{"\x00alpha\x00beta", "75acf95e6f14b356", "1#RW 1#QRW 1#XQRW"},
		{"alpha\x00beta\x00", "59e74436f6143cfa", "2#HT 2#JHT 2#QJHT"},
	}},
	{"U+2028, form feed and vertical tab are content", "a\u2028b\f\nc\vd\n", []vectorLine{
		{"\x00a\u2028b\f\x00c\vd", "843638479e801a69", "1#WK 1#TWK 1#PTWK"},
		{"a\u2028b\f\x00c\vd\x00", "512d7cf700b76d52", "2#RM 2#BRM 2#WBRM"},
	}},
	{"blank lines", "\n\n\n", []vectorLine{
		{"\x00\x00", "3325230e1f285505", "1#ZR 1#RZR 1#RRZR"},
		{"\x00\x00", "3325230e1f285505", "2#ZR 2#RZR 2#RRZR"},
		{"\x00\x00", "3325230e1f285505", "3#ZR 3#RZR 3#RRZR"},
	}},
	{"a blank line takes its hash from its neighbours", "}\n\n}\n\nx\n", []vectorLine{
		{"\x00}\x00", "9cae1f0ae0ee79a6", "1#TW 1#KTW 1#SKTW"},
		{"}\x00\x00}", "d9317a9617aa783a", "2#QT 2#NQT 2#SNQT"},
		{"\x00}\x00", "9cae1f0ae0ee79a6", "3#TW 3#KTW 3#SKTW"},
		{"}\x00\x00x", "17cf64ce811b624b", "4#VX 4#MVX 4#WMVX"},
		{"\x00x\x00", "69e345095dbca501", "5#ZP 5#RZP 5#TRZP"},
	}},
	{"invalid UTF-8 is hashed as it is", "\xff\xfe\nok\n\x80", []vectorLine{
		{"\x00\xff\xfe\x00ok", "a6c6b49b5110413f", "1#QH 1#PQH 1#VPQH"},
		{"\xff\xfe\x00ok\x00\x80", "d50ad029a429f973", "2#SQ 2#KSQ 2#HKSQ"},
		{"ok\x00\x80\x00", "8a469f166457d962", "3#WM 3#KWM 3#BKWM"},
	}},
	{"a NUL in a line", "a\x00b\nc\n", []vectorLine{
		{"\x00a\x00b\x00c", "81d4ae78eef967b7", "1#XS 1#SXS 1#WSXS"},
		{"a\x00b\x00c\x00", "67d24acc9a994fea", "2#YT 2#HYT 2#VHYT"},
	}},
	{"a long line", strings.Repeat("0123456789", 20_000) + "\nend", []vectorLine{
		{"\x00" + strings.Repeat("0123456789", 20_000) + "\x00end", "40e073f5854b2628", "1#MN 1#WMN 1#MWMN"},
		{strings.Repeat("0123456789", 20_000) + "\x00end\x00", "61e8bf29c32e4cea", "2#YT 2#JYT 2#VJYT"},
	}},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			text := NewText([]byte(v.file))
			if text.Lines() != len(v.lines) {
				t.Fatalf("%d lines, want %d", text.Lines(), len(v.lines))
			}
			for i, want := range v.lines {
				n := i + 1
				sum := xxh3.HashString(want.hashed)
				anchors := fmt.Sprint(text.Anchor(n, 2), " ", text.Anchor(n, 3), " ", text.Anchor(n, 4))
				if hex := fmt.Sprintf("%016x", sum); hex != want.sum || anchors != want.anchors {
					t.Errorf("line %d: got {%q, %q}, want {%q, %q}", n, hex, anchors, want.sum, want.anchors)
				}
				if text.Hash(n) != Hash(sum) {
					t.Errorf("line %d: Hash = %04x, want %04x", n, text.Hash(n), Hash(sum))
				}
			}
		})
	}
}

// TestSumIsOfTheConcatenation holds Sum64 at all sizes around those at which it
// changes its way of hashing.
func TestSumIsOfTheConcatenation(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 600)
	for n := range 1200 {
		for _, parts := range [][3]string{{text[:n], "x", ""}, {"", text[:n], "y"}, {text[:n/3], text[n/3 : n/2], text[n/2 : n]}, {"", text[:8*n], ""}} {
			want := xxh3.HashString(parts[0] + "\x00" + parts[1] + "\x00" + parts[2])
			if got := Sum64([]byte(parts[0]), []byte(parts[1]), []byte(parts[2])); got != want {
				t.Fatalf("Sum64 of %d, %d, %d bytes = %016x, want %016x", len(parts[0]), len(parts[1]), len(parts[2]), got, want)
			}
		}
	}
}

// TestVectorLetters spells the letters of every vector by hand from the digits
// of its sum, without the package's own printing.
func TestVectorLetters(t *testing.T) {
	letter := map[byte]string{
		'0': "Z", '1': "P", '2': "M", '3': "Q", '4': "V", '5': "R", '6': "W", '7': "S",
		'8': "N", '9': "K", 'a': "T", 'b': "X", 'c': "J", 'd': "B", 'e': "Y", 'f': "H",
	}
	for _, v := range vectors {
		for i, l := range v.lines {
			var spelt string
			for _, digit := range []byte(l.sum[12:]) {
				spelt += letter[digit]
			}
			want := fmt.Sprintf("%d#%s %d#%s %d#%s", i+1, spelt[2:], i+1, spelt[1:], i+1, spelt)
			if l.anchors != want {
				t.Errorf("%s: line %d: anchors %q, want %q", v.name, i+1, l.anchors, want)
			}
		}
	}
}
