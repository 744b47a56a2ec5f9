package rpc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mapd/rpc"
)

// refused sends an edit that must change nothing, and returns its error.
func (a *agent) refused(d *daemon, method, params, code string) message {
	a.t.Helper()
	files := func() (out []string) {
		err := filepath.Walk(d.dir, func(path string, info os.FileInfo, err error) error {
			if err != nil {
				return err
			}
			line := fmt.Sprint(path, info.Mode())
			if !info.IsDir() {
				line += fmt.Sprint(info.Size(), info.ModTime())
			}
			out = append(out, line)
			return nil
		})
		if err != nil {
			a.t.Fatal(err)
		}
		return out
	}
	before := files()
	m := a.call(method, params)
	if m.code() != code || m.Error == nil || strings.Count(m.Error.Message, "nothing was written") != 1 {
		a.t.Errorf("%s %.200s: %q, %+v; want %s", method, params, m.code(), m.Error, code)
	}
	if after := files(); fmt.Sprint(before) != fmt.Sprint(after) {
		a.t.Errorf("%s %.200s: %v became %v", method, params, before, after)
	}
	return m
}

// TestEmptyAnchorIsNone keeps an anchor that is empty, as a slip makes one, from
// meaning the end of the file.
func TestEmptyAnchorIsNone(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", poem)
	a := d.session()
	at := anchors(a.read(`{"path":"a.txt"}`))
	for _, edit := range []string{
		`{"op":"append","pos":"","lines":["x"]}`,
		`{"op":"prepend","pos":"","lines":["x"]}`,
		`{"op":"replace","pos":"","lines":["x"]}`,
		fmt.Sprintf(`{"op":"delete","pos":%q,"end":""}`, at[1]),
	} {
		a.refused(d, "mapd/edit", `{"path":"a.txt","edits":[`+edit+`]}`, "invalid_anchor")
	}
	a.edit(`{"path":"a.txt","edits":[{"op":"append","pos":null,"lines":["end"]}]}`)
	if !strings.HasSuffix(d.content("a.txt"), "\nend\n") {
		t.Errorf("after an append without pos: %q", d.content("a.txt"))
	}
}

// TestEditManyChecksWhatItWillWrite has the second file refuse to be written for
// reasons that no reading tells: the first must not even be written and put back.
func TestEditManyChecksWhatItWillWrite(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", poem)
	locked := d.write("locked.txt", poem)
	if err := os.Chmod(locked, 0o444); err != nil {
		t.Fatal(err)
	}
	a := d.session()
	const edit = `,"edits":[{"op":"append","lines":["x"]}]`
	a.refused(d, "mapd/edit", `{"path":"locked.txt","dryRun":true`+edit+`}`, "read_only")
	a.refused(d, "mapd/editMany", `{"files":[{"path":"a.txt"`+edit+`},{"path":"locked.txt"`+edit+`}]}`, "read_only")
	for _, other := range []string{"n/x", "./n/x", "n//x", d.dir + "/n/x"} {
		a.refused(d, "mapd/editMany", fmt.Sprintf(`{"files":[{"path":"n/x","create":true%s},{"path":%q,"create":true%s}]}`, edit, other, edit), "invalid_params")
	}
	// What was created is taken back with the directories that were made for it.
	a.refused(d, "mapd/editMany", `{"files":[{"path":"n/m/x","create":true`+edit+`},{"path":"n/m/x/y","create":true`+edit+`}]}`, "not_found")
}

// TestEditThatCannotBeAnswered refuses what would be written, and then be
// answered with an error, because the reply is too large.
func TestEditThatCannotBeAnswered(t *testing.T) {
	d := newDaemon(t, func(o *rpc.Options) { o.Limits.Conn.Frame = 1 << 20 })
	d.write("a.txt", strings.Repeat(strings.Repeat("\x01", 1000)+"\n", 200))
	a := d.session()
	var first, last string
	for _, n := range []int{1, 200} {
		r := a.read(fmt.Sprintf(`{"path":"a.txt","ranges":[{"start":%d,"end":%d}]}`, n, n))
		if n == 1 {
			first = anchors(r)[n]
		} else {
			last = anchors(r)[n]
		}
	}
	whole := fmt.Sprintf(`{"path":"a.txt","edits":[{"op":"delete","pos":%q,"end":%q}]`, first, last)
	a.refused(d, "mapd/edit", whole+`}`, "file_too_large")
	a.refused(d, "mapd/edit", whole+`,"dryRun":true}`, "file_too_large")
	// Many edits of which each alone could be answered.
	for _, name := range []string{"b", "c"} {
		d.write(name, strings.Repeat(strings.Repeat("\x01", 1000)+"\n", 90))
	}
	var files []string
	for _, name := range []string{"b", "c"} {
		at := anchors(a.read(fmt.Sprintf(`{"path":%q,"limit":1}`, name)))[1]
		end := anchors(a.read(fmt.Sprintf(`{"path":%q,"offset":90}`, name)))[90]
		files = append(files, fmt.Sprintf(`{"path":%q,"edits":[{"op":"delete","pos":%q,"end":%q}]}`, name, at, end))
	}
	a.refused(d, "mapd/editMany", `{"files":[`+strings.Join(files, ",")+`]}`, "file_too_large")
	if r := a.edit(files[0]); !r.Applied {
		t.Errorf("one of them alone: %+v", r)
	}
}
