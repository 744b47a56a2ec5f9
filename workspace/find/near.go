package find

import "strings"

// nearness says how far files are from those that a session read.
type nearness struct {
	read  map[string]bool // absolute paths
	above map[string]int  // directory -> steps down to the nearest directory with a file that was read
}

// maxNear is the largest distance, which all that is farther has too.
const maxNear = 255

func newNearness(read []string) nearness {
	n := nearness{read: map[string]bool{}, above: map[string]int{}}
	for _, path := range read {
		n.read[path] = true
		for dir, steps := parent(path), 0; ; dir, steps = parent(dir), steps+1 {
			if known, ok := n.above[dir]; ok && known <= steps {
				break // and so is what is above
			}
			n.above[dir] = steps
			if dir == "" {
				break
			}
		}
	}
	return n
}

// of returns the distance of the file at an absolute path: 0 for one that was
// read, else one more than the steps through directories to the nearest of those.
// It is 0 for all files if none was read.
func (n nearness) of(path string) int {
	if len(n.read) == 0 || n.read[path] {
		return 0
	}
	best := maxNear
	for dir, steps := parent(path), 1; ; dir, steps = parent(dir), steps+1 {
		if down, ok := n.above[dir]; ok {
			best = min(best, steps+down)
		}
		if dir == "" || steps >= best {
			return best
		}
	}
}

// parent returns the directory of an absolute path; that of the last one is "".
func parent(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }
