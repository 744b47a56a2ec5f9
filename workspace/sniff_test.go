package workspace

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestSniff(t *testing.T) {
	packet := "G\x40\x11\x10" + strings.Repeat("\xff", 184)
	for _, tc := range []struct {
		name, content, mime string // mime "" for text
		lossy               bool
	}{
		{"empty", "", "", false},
		{"ascii", "hello\n", "", false},
		{"utf-8", "grüße 日本\n", "", false},
		{"bom", "\xef\xbb\xbfhello\n", "", false},
		{"latin-1", "gr\xfc\xdfe\n", "", true},
		{"cut rune", "abc\xe6\x97", "", true},
		{"controls", "a\x01\x1b[0m\x7f\n", "", false},
		{"late NUL", strings.Repeat("text\n", 100_000) + "\x00", "application/octet-stream", false},
		{"one NUL", "\x00", "application/octet-stream", false},
		{"utf-16le bom", "\xff\xfeh\x00i\x00", "text/plain; charset=utf-16le", false},
		{"utf-16be bom", "\xfe\xff\x00h\x00i", "text/plain; charset=utf-16be", false},
		{"utf-16le bom without NUL", "\xff\xfe\xe5\x65\x2c\x67", "text/plain; charset=utf-16le", false},
		{"utf-16le", "h\x00e\x00l\x00l\x00o\x00", "text/plain; charset=utf-16le", false},
		{"utf-16be", "\x00h\x00e\x00l\x00l\x00o", "text/plain; charset=utf-16be", false},
		{"utf-32le", "\xff\xfe\x00\x00h\x00\x00\x00", "text/plain; charset=utf-32le", false},
		{"png", "\x89PNG\r\n\x1a\n", "image/png", false},
		{"jpeg", "\xff\xd8\xff\xe0", "image/jpeg", false},
		{"gif", "GIF89a\x01\x00\x01\x00", "image/gif", false},
		{"webp", "RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp", false},
		{"mp4", "\x00\x00\x00\x18ftypisom\x00\x00\x02\x00", "video/mp4", false},
		{"quicktime", "\x00\x00\x00\x14ftypqt  ", "video/quicktime", false},
		{"matroska", "\x1a\x45\xdf\xa3\x01", "video/webm", false},
		{"avi", "RIFF\x24\x00\x00\x00AVI LIST", "video/x-msvideo", false},
		{"transport stream", packet + packet + packet, "video/mp2t", false},
		{"zip", "PK\x03\x04\x14", "application/zip", false},
		{"gzip", "\x1f\x8b\x08", "application/gzip", false},
		{"tar", strings.Repeat("a", 100) + strings.Repeat("\x00", 157) + "ustar\x0000", "application/x-tar", false},
		{"pdf", "%PDF-1.7\n", "application/pdf", false},
		{"elf", "\x7fELF\x02\x01\x01", "application/x-elf", false},
		{"pe", "MZ\x90\x00\x03", "application/vnd.microsoft.portable-executable", false},
		{"avi without a NUL", "RIFF\x24\x11\x11\x11AVI LIST", "video/x-msvideo", false},
		{"mp4 without a NUL", "\x01\x01\x01\x18ftypmp42abcd", "video/mp4", false},
		{"prose like gif", "GIF89a is a format\n", "", false},
		{"prose like bmp", "BMW builds cars\n", "", false},
		{"prose like pe", "MZ\n", "", false},
		{"prose like mp3", "ID3 tags\n", "", false},
		{"prose like avi", "RIFFxxxxAVI is old\n", "", false},
		{"prose like ts", strings.Repeat("G"+strings.Repeat("x", 187), 4), "", false},
	} {
		c, f, dir := openFolder(t, Options{})
		write(t, filepath.Join(dir, "f.txt"), tc.content)
		v := mustRead(t, c, f, "f.txt")
		mime := tc.mime
		if mime == "" {
			mime = textMIME
		}
		if v.MIME() != mime || v.Binary() != (tc.mime != "") || v.Lossy() != tc.lossy || (v.Text() == nil) != v.Binary() || string(v.Bytes()) != tc.content {
			t.Errorf("%s: %s, binary %v, lossy %v", tc.name, v.MIME(), v.Binary(), v.Lossy())
		}
	}
}
