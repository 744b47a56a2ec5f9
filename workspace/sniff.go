package workspace

import (
	"bytes"
	"unicode/utf8"
)

// textMIME is the media type of every text.
const textMIME = "text/plain; charset=utf-8"

// signature is how a binary format starts.
type signature struct {
	at    int
	magic string
	mime  string
	// weak says that a text might start so too: the signature counts only if
	// the content holds a NUL, is not UTF-8, or starts with what no text holds.
	weak bool
}

var signatures = []signature{
	{0, "\x89PNG\r\n\x1a\n", "image/png", false},
	{0, "\xff\xd8\xff", "image/jpeg", false},
	{0, "GIF87a", "image/gif", true},
	{0, "GIF89a", "image/gif", true},
	{8, "WEBP", "image/webp", true}, // after RIFF and a length
	{8, "WAVE", "audio/wav", true},
	{8, "AVI ", "video/x-msvideo", true},
	{4, "ftypqt", "video/quicktime", true},
	{4, "ftypavif", "image/avif", true},
	{4, "ftypheic", "image/heic", true},
	{4, "ftypM4A", "audio/mp4", true},
	{4, "ftyp", "video/mp4", true},
	{0, "\x1a\x45\xdf\xa3", "video/webm", false}, // and Matroska
	{0, "\x00\x00\x01\xba", "video/mpeg", false},
	{0, "\x00\x00\x01\xb3", "video/mpeg", false},
	{0, "FLV\x01", "video/x-flv", false},
	{0, "OggS\x00", "application/ogg", false},
	{0, "fLaC\x00", "audio/flac", false},
	{0, "ID3", "audio/mpeg", true},
	{0, "\xff\xfb", "audio/mpeg", true},
	{0, "BM", "image/bmp", true},
	{0, "II*\x00", "image/tiff", false},
	{0, "MM\x00*", "image/tiff", false},
	{0, "8BPS\x00", "image/vnd.adobe.photoshop", false},
	{0, "\x00\x00\x01\x00", "image/x-icon", false},
	{0, "%PDF-", "application/pdf", false},
	{0, "PK\x03\x04", "application/zip", false},
	{0, "PK\x05\x06", "application/zip", false},
	{0, "\x1f\x8b", "application/gzip", true},
	{0, "BZh91AY&SY", "application/x-bzip2", false},
	{0, "\xfd7zXZ\x00", "application/x-xz", false},
	{0, "7z\xbc\xaf\x27\x1c", "application/x-7z-compressed", false},
	{0, "\x28\xb5\x2f\xfd", "application/zstd", false},
	{0, "Rar!\x1a\x07", "application/vnd.rar", false},
	{0, "\x04\x22\x4d\x18", "application/x-lz4", false},
	{257, "ustar", "application/x-tar", true},
	{0, "!<arch>\n", "application/x-archive", true},
	{0, "\x7fELF", "application/x-elf", false},
	{0, "MZ", "application/vnd.microsoft.portable-executable", true},
	{0, "\xcf\xfa\xed\xfe", "application/x-mach-binary", false},
	{0, "\xce\xfa\xed\xfe", "application/x-mach-binary", false},
	{0, "\xca\xfe\xba\xbe", "application/java-vm", false},
	{0, "\x00asm", "application/wasm", false},
	{0, "SQLite format 3\x00", "application/vnd.sqlite3", false},
	{0, "wOFF", "font/woff", true},
	{0, "wOF2", "font/woff2", true},
	{0, "OTTO\x00", "font/otf", false},
	{0, "\x00\x01\x00\x00\x00", "font/ttf", false},
}

// sniff returns the media type of content, and whether it is binary: UTF-16 or
// UTF-32, the signature of a known format, or a NUL anywhere. Text that is not
// UTF-8, such as Latin-1, is text.
func sniff(b []byte) (mime string, binary bool) {
	return sniffKnown(b, bytes.IndexByte(b, 0) >= 0, func() bool { return utf8.Valid(b) })
}

// sniffKnown is sniff of bytes of which is known whether a NUL is in them, and
// can be asked whether they are UTF-8: only of what starts like a weak signature
// that is asked.
func sniffKnown(b []byte, hasNUL bool, valid func() bool) (mime string, binary bool) {
	if mime := wideBOM(b); mime != "" {
		return mime, true
	}
	for _, s := range signatures {
		if len(b) >= s.at+len(s.magic) && string(b[s.at:s.at+len(s.magic)]) == s.magic &&
			(!s.weak || hasNUL || controls(b) || !valid()) {
			return s.mime, true
		}
	}
	switch {
	case transportStream(b) && !valid():
		return "video/mp2t", true
	case hasNUL && widePattern(b) != "":
		return widePattern(b), true
	case hasNUL:
		return "application/octet-stream", true
	}
	return textMIME, false
}

// controls reports whether control characters that no text uses are among the
// first bytes: those of ASCII but white space, backspace and escape.
func controls(b []byte) bool {
	return bytes.ContainsFunc(b[:min(len(b), 64)], func(r rune) bool {
		return r < ' ' && (r < '\a' || r > '\r') && r != 0x1b
	})
}

// transportStream recognises MPEG-TS, whose files are often named .ts: a sync
// byte at the start of each of the first packets of 188 bytes. A text may have
// those too.
func transportStream(b []byte) bool {
	const packet, sync = 188, 'G'
	return len(b) >= 3*packet && b[0] == sync && b[packet] == sync && b[2*packet] == sync
}

// wideBOM returns the media type of UTF-16 and UTF-32 with a byte order mark,
// and "" for the rest.
func wideBOM(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe, 0, 0}):
		return "text/plain; charset=utf-32le"
	case bytes.HasPrefix(b, []byte{0, 0, 0xfe, 0xff}):
		return "text/plain; charset=utf-32be"
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		return "text/plain; charset=utf-16le"
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		return "text/plain; charset=utf-16be"
	}
	return ""
}

// widePattern returns the media type of UTF-16 without a byte order mark, and
// "" if b does not look so: most units of the start have a NUL on the same
// side, as in text of mostly ASCII.
func widePattern(b []byte) string {
	start := b[:min(len(b), 512)&^1]
	var nul [2]int
	for i, c := range start {
		if c == 0 {
			nul[i&1]++
		}
	}
	most := len(start) / 2 * 7
	switch {
	case nul[0] == 0 && nul[1]*10 >= most && nul[1] > 1:
		return "text/plain; charset=utf-16le"
	case nul[1] == 0 && nul[0]*10 >= most && nul[0] > 1:
		return "text/plain; charset=utf-16be"
	}
	return ""
}
