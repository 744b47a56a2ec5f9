package recovery

import (
	"bytes"
	"iter"
	"slices"

	"mapd/hashline"
)

// A session that edits a file holds thousands of versions of it, and each costs a
// comparison to be followed to the live text. maxOthers is how many of those that
// no anchor names are asked at all, the most recent ones, and maxFollowed how many
// of them are followed. What only older versions could prove is not proven.
const (
	maxOthers   = 256
	maxFollowed = 64
)

// other is a delivered version that no anchor of the request led to.
type other struct {
	held *Held
	text *hashline.Text
}

// shows reports whether a line of that content was delivered.
func (o *other) shows(line []byte) bool {
	for _, r := range o.held.Lines {
		for n := r.Start; n <= min(r.End, o.text.Lines()); n++ {
			if bytes.Equal(o.text.Line(n), line) {
				return true
			}
		}
	}
	return false
}

func anyVersion(*other) bool { return true }

// kept returns the delivered versions that are still kept: those of the given
// snapshots first, then the rest of those that were followed already, then such
// of the others that may be of use.
func (s *Scene) kept(use func(*other) bool, first ...string) iter.Seq[*view] {
	return func(yield func(*view) bool) {
		followed := slices.Clip(s.followed) // more may come while this is used
		for _, named := range [...]bool{true, false} {
			for _, v := range followed {
				if slices.Contains(first, v.held.Snapshot) == named && !yield(v) {
					return
				}
			}
		}
		for _, o := range s.otherVersions() {
			at := slices.IndexFunc(s.followed, func(v *view) bool { return v.held == o.held })
			switch {
			case at >= 0 && at < len(followed): // had its turn
			case at >= 0:
				if !yield(s.followed[at]) {
					return
				}
			case len(s.followed) < maxFollowed && use(o):
				if v := s.view(o.held); v != nil && !yield(v) {
					return
				}
			}
		}
	}
}

// otherVersions returns versions that were not followed when it was first called.
func (s *Scene) otherVersions() []*other {
	if s.others == nil {
		s.others = []*other{}
		for _, h := range s.Held {
			if len(s.others) == maxOthers {
				break
			}
			if _, asked := s.views[h.Snapshot]; asked {
				continue
			}
			if text, ok := s.Texts.Text(h.Snapshot); ok {
				s.others = append(s.others, &other{h, text})
			}
		}
	}
	return s.others
}
