package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// file is a configuration as it was read.
type file struct {
	name    string // as it was asked for
	real    string // where it lies, behind symbolic links
	exists  bool
	content []byte
	mode    fs.FileMode
}

// maxLinks is how many symbolic links may lead to a file.
const maxLinks = 40

// open reads a configuration. One that is not there is no error.
func open(name string) (*file, error) {
	f := &file{name: name, real: name, mode: 0o600}
	for range maxLinks {
		info, err := os.Lstat(f.real)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return f, nil
		case err != nil:
			return nil, err
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(f.real)
			if err != nil {
				return nil, err
			}
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(f.real), to)
			}
			f.real = to
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is no regular file", name)
		default:
			f.exists, f.mode = true, info.Mode().Perm()
			f.content, err = os.ReadFile(f.real)
			return f, err
		}
	}
	return nil, fmt.Errorf("%s: too many symbolic links", name)
}

// write puts content in the place of the file at once. It fails if somebody has
// changed the file since it was read.
func (f *file) write(content []byte) error {
	now, err := open(f.name)
	if err != nil {
		return err
	}
	if now.exists != f.exists || !bytes.Equal(now.content, f.content) {
		return fmt.Errorf("%s has just been changed by another program; nothing was written, try again", f.name)
	}
	return replace(f.real, content, f.mode)
}

// replace writes a file beside path and puts it in its place.
func replace(path string, content []byte, mode fs.FileMode) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), ".mapd-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temp.Name())
		}
	}()
	_, err = temp.Write(content)
	if err == nil {
		err = temp.Chmod(mode)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// mkdirs makes a directory and those above it that are missing, and returns the
// ones that it made, the highest first.
func mkdirs(dir string, mode fs.FileMode) (made []string, err error) {
	if _, err := os.Stat(dir); err == nil {
		return nil, nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if made, err = mkdirs(parent, mode); err != nil {
			return made, err
		}
	}
	if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return made, err
	}
	return append(made, dir), nil
}
