package workspace

import "time"

// rests keep a file that changes all the time, such as one that an agent edits,
// from costing a processor: when its outline took long, the next one waits for a
// multiple of that. Who needs it at once says so by Want or Hurry. The zero value
// is ready for use, by one goroutine.
type rests struct {
	until map[string]time.Time // by path
	files map[string]*File     // those that rest, by path: the newest of each
	wake  *time.Timer          // nil before the first rest
}

const (
	// restFactor bounds the time that outlines of one file take to a tenth.
	restFactor = 9
	// restFrom is how long an outline takes from which on its file rests, and
	// restMost how long it rests at most.
	restFrom = 5 * time.Millisecond
	restMost = 3 * time.Second
)

// made notes how long the outline of a file took.
func (r *rests) made(o outlined) {
	took := o.end.Sub(o.begun)
	if took < restFrom {
		delete(r.until, o.path)
		return
	}
	if r.until == nil || len(r.until) > 1000 {
		r.until = map[string]time.Time{}
	}
	r.until[o.path] = o.end.Add(min(restFactor*took, restMost))
}

// delay reports whether f has to rest, and keeps it until it has.
func (r *rests) delay(f *File) bool {
	left := time.Until(r.until[f.Path])
	if left <= 0 {
		delete(r.until, f.Path)
		return false
	}
	if r.files == nil {
		r.files = map[string]*File{}
	}
	r.files[f.Path] = f
	if r.wake == nil {
		r.wake = time.NewTimer(left)
	} else if len(r.files) == 1 {
		r.wake.Reset(left)
	}
	return true
}

// woken is when the first file may have rested enough; then take is due.
func (r *rests) woken() <-chan time.Time {
	if r.wake == nil {
		return nil
	}
	return r.wake.C
}

// take returns the files that rest. With now their rest is over.
func (r *rests) take(now bool) []*File {
	var out []*File
	for path, f := range r.files {
		out = append(out, f)
		if now {
			delete(r.until, path)
		}
	}
	r.files = nil
	return out
}

// stop ends the timer.
func (r *rests) stop() {
	if r.wake != nil {
		r.wake.Stop()
	}
}
