package workspace

import "time"

// newFaulty returns a source without faults, which its Cache closes.
func newFaulty() *faultySource { return &faultySource{system: newSystem()} }

// faultySource is the real file system with hooks.
type faultySource struct {
	*system
	// atFind, atOpen and atRead run before those steps; an error replaces them.
	// afterRead runs after each read that gave bytes, with their end.
	atFind    func(path string) error
	atOpen    func() error
	atRead    func(off int64) error
	afterRead func(end int64) error
	// restamp changes what stat answers.
	restamp func(stamp) stamp
}

func (f *faultySource) find(path string) (node, error) {
	if f.atFind != nil {
		if err := f.atFind(path); err != nil {
			return nil, err
		}
	}
	n, err := f.system.find(path)
	if err != nil {
		return nil, err
	}
	return faultyNode{n, f}, nil
}

type faultyNode struct {
	node
	f *faultySource
}

func (n faultyNode) stat() (stamp, error) { return n.f.stamp(n.node.stat()) }

func (n faultyNode) open() (file, error) {
	if n.f.atOpen != nil {
		if err := n.f.atOpen(); err != nil {
			return nil, err
		}
	}
	opened, err := n.node.open()
	if err != nil {
		return nil, err
	}
	return faultyFile{opened, n.f}, nil
}

type faultyFile struct {
	file
	f *faultySource
}

func (o faultyFile) stat() (stamp, error) { return o.f.stamp(o.file.stat()) }

func (o faultyFile) readAt(p []byte, off int64) (int, error) {
	if o.f.atRead != nil {
		if err := o.f.atRead(off); err != nil {
			return 0, err
		}
	}
	n, err := o.file.readAt(p, off)
	if n > 0 && err == nil && o.f.afterRead != nil {
		err = o.f.afterRead(off + int64(n))
	}
	return n, err
}

func (f *faultySource) stamp(s stamp, err error) (stamp, error) {
	if err == nil && f.restamp != nil {
		s = f.restamp(s)
	}
	return s, err
}

// aged is a restamp that makes every file old enough to trust its stamp, so
// that it is read once.
func aged(s stamp) stamp {
	s.mtime -= int64(time.Hour)
	s.ctime -= int64(time.Hour)
	return s
}
