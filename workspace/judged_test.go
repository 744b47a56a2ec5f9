package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file changes right after it was read, on a file system whose clock has not
// moved on, so that no stamp tells. Neither a refusal may rest on the old bytes nor
// a write go over the new ones.
func TestWriteOfAYoungFile(t *testing.T) {
	refuse := errors.New("refused")
	for name, update := range map[string]func(live string) ([]byte, error){
		"refused": func(live string) ([]byte, error) {
			if live == "old\n" {
				return nil, refuse
			}
			return []byte(live + "+"), nil
		},
		"the same": func(live string) ([]byte, error) {
			if live == "old\n" {
				return []byte(live), nil
			}
			return []byte(live + "+"), nil
		},
		"written": func(live string) ([]byte, error) { return []byte(live + "+"), nil },
	} {
		t.Run(name, func(t *testing.T) {
			src := newFaulty()
			c, f, dir := openFolder(t, Options{source: src})
			path := filepath.Join(dir, "f")
			write(t, path, "old\n")
			frozen := time.Now().UnixNano()
			src.restamp = func(s stamp) stamp {
				s.mtime, s.ctime = frozen, frozen+int64(time.Hour)
				return s
			}
			changed := false
			src.afterRead = func(int64) error {
				if changed {
					return nil
				}
				changed = true
				file, err := os.OpenFile(path, os.O_WRONLY, 0)
				if err != nil {
					return err
				}
				defer file.Close()
				_, err = file.WriteString("new\n")
				return err
			}
			var saw []string
			res, err := c.Write(t.Context(), f, "f", WriteOptions{}, func(v *Version) ([]byte, error) {
				saw = append(saw, string(v.Bytes()))
				return update(string(v.Bytes()))
			})
			if err != nil || !res.Changed || contentOf(t, path) != "new\n+" {
				t.Errorf("%+v, %v; the file holds %q; seen: %q", res, err, contentOf(t, path), saw)
			}
		})
	}
}
