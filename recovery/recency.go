package recovery

import "slices"

// recency is a list of Held, the latest delivery first. A view of it stays as it
// is whatever happens to the list, and is no copy: what is delivered is put in
// the room before the views, the oldest is left to them, and for all other
// changes, which are rare, the list is copied. The zero value is ready for use.
type recency struct {
	room  []*Held // ends where the list ends
	start int     // of the list in room
}

// view returns the list. It must not be modified.
func (r *recency) view() []*Held { return slices.Clip(r.room[r.start:]) }

// newest returns the time of the latest delivery, 0 for an empty list.
func (r *recency) newest() int64 {
	if r.start == len(r.room) {
		return 0
	}
	return r.room[r.start].time
}

// replace puts now, of which the time is set, in its place, and takes was out if
// it is there.
func (r *recency) replace(was, now *Held) {
	r.remove(was)
	list := r.view()
	if r.newest() > now.time {
		at, _ := r.find(now.time)
		r.room, r.start = slices.Insert(slices.Clone(list), at, now), 0
		return
	}
	if r.start == 0 {
		more := len(list) + 4
		r.room, r.start = make([]*Held, more+len(list)), more
		copy(r.room[more:], list)
	}
	r.start--
	r.room[r.start] = now
}

// remove takes h out if it is there.
func (r *recency) remove(h *Held) {
	at, ok := r.find(h.time)
	list := r.view()
	switch {
	case !ok || list[at] != h:
	case at == len(list)-1:
		r.room = r.room[:len(r.room)-1]
	default:
		r.room, r.start = slices.Delete(slices.Clone(list), at, at+1), 0
	}
}

// find returns where the delivery of that time is, or would be.
func (r *recency) find(time int64) (at int, ok bool) {
	return slices.BinarySearchFunc(r.view(), time, func(h *Held, time int64) int {
		switch {
		case h.time > time:
			return -1
		case h.time < time:
			return 1
		default:
			return 0
		}
	})
}
