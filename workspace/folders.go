package workspace

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// maxName is the longest name that is accepted, in bytes.
const maxName = 4096

// Folders are the root folders of a session, in its order, as real paths. The
// zero value has none, and every path is outside of it. It is immutable.
type Folders struct {
	roots []string
}

// Folders resolves dirs, which must be absolute and name directories, to the
// folders of a session. A folder named twice counts once.
func (c *Cache) Folders(dirs ...string) (Folders, error) {
	if err := c.enter(); err != nil {
		return Folders{}, err
	}
	defer c.leave()
	var f Folders
	for _, dir := range dirs {
		root, err := c.resolveFolder(dir)
		if err != nil {
			return Folders{}, fmt.Errorf("folder %s: %w", show(dir), err)
		}
		if !slices.Contains(f.roots, root) {
			f.roots = append(f.roots, root)
		}
	}
	return f, nil
}

func (c *Cache) resolveFolder(dir string) (string, error) {
	if err := checkName(dir); err != nil {
		return "", err
	}
	if !filepath.IsAbs(dir) {
		return "", nameError("a folder is an absolute path")
	}
	n, err := c.source.find(dir)
	if err != nil {
		return "", classify(err)
	}
	defer n.close()
	s, err := n.stat()
	if err != nil {
		return "", classify(err)
	}
	if s.kind != directory {
		return "", &failure{ErrName, fmt.Errorf("it is %s, a folder must be a directory", kindNames[s.kind])}
	}
	root, err := n.realPath(s)
	return root, classify(err)
}

// Roots returns the resolved folders in the session's order.
func (f Folders) Roots() []string { return slices.Clone(f.roots) }

// Rel returns the name of a resolved path in the protocol: relative to the
// first folder with slashes when it lies there, else as it is.
func (f Folders) Rel(abs string) string {
	if len(f.roots) == 0 || !within(f.roots[0], abs) {
		return abs
	}
	if rel := strings.TrimPrefix(abs[len(f.roots[0]):], "/"); rel != "" {
		return rel
	}
	return "."
}

// Contains reports whether a resolved path lies in one of the folders, or is
// one.
func (f Folders) Contains(abs string) bool {
	return slices.ContainsFunc(f.roots, func(root string) bool { return within(root, abs) })
}

// within reports whether the real path lies in the real directory root. Both
// are free of symbolic links, so comparing bytes is exact.
func within(root, path string) bool {
	rest, found := strings.CutPrefix(path, root)
	return found && (rest == "" || rest[0] == '/' || root == "/")
}

// join returns the path that name stands for: name itself when it is absolute,
// else below the first folder. It does not clean the path, because a/../b is
// not b when a is a symbolic link: resolving is the kernel's.
func (f Folders) join(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	if filepath.IsAbs(name) {
		return name, nil
	}
	if len(f.roots) == 0 {
		return "", ErrOutside
	}
	return strings.TrimSuffix(f.roots[0], "/") + "/" + name, nil
}

func checkName(name string) error {
	switch {
	case name == "":
		return nameError("it is empty; name a file")
	case len(name) > maxName:
		return nameError(fmt.Sprintf("it has %d bytes, at most %d are allowed", len(name), maxName))
	case strings.IndexByte(name, 0) >= 0:
		return nameError("it holds a NUL byte, which no file name can")
	}
	return nil
}
