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
	// step runs before each operation of a write, which it names; an error
	// replaces the operation.
	step func(op string) error
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

func (f *faultySource) at(op string) error {
	if f.step == nil {
		return nil
	}
	return f.step(op)
}

func (f *faultySource) place(path string) (place, error) {
	if err := f.at("open directory"); err != nil {
		return nil, err
	}
	p, err := f.system.place(path)
	if err != nil {
		return nil, err
	}
	return faultyPlace{p, f}, nil
}

func (n faultyNode) openWrite() (target, error) {
	if err := n.f.at("open for writing"); err != nil {
		return nil, err
	}
	t, err := n.node.openWrite()
	if err != nil {
		return nil, err
	}
	return faultyTarget{t, n.f}, nil
}

func (o faultyFile) attributes() (attributes, error) {
	if err := o.f.at("attributes"); err != nil {
		return attributes{}, err
	}
	return o.file.attributes()
}

type faultyPlace struct {
	place
	f *faultySource
}

func (p faultyPlace) look(name string) (node, error) {
	if err := p.f.at("look"); err != nil {
		return nil, err
	}
	n, err := p.place.look(name)
	if err != nil {
		return nil, err
	}
	return faultyNode{n, p.f}, nil
}

func (p faultyPlace) stat(name string) (stamp, error) { return p.f.stamp(p.place.stat(name)) }

func (p faultyPlace) create(name string, mode uint32) (target, error) {
	if err := p.f.at("create"); err != nil {
		return nil, err
	}
	t, err := p.place.create(name, mode)
	if err != nil {
		return nil, err
	}
	return faultyTarget{t, p.f}, nil
}

func (p faultyPlace) move(from, to string, how moveKind) error {
	if err := p.f.at([]string{moveReplace: "rename", moveKeep: "rename to a free name", moveExchange: "exchange"}[how]); err != nil {
		return err
	}
	return p.place.move(from, to, how)
}

func (p faultyPlace) remove(name string) error {
	if err := p.f.at("remove"); err != nil {
		return err
	}
	return p.place.remove(name)
}

func (p faultyPlace) makeDir(name string, mode uint32) error {
	if err := p.f.at("make directory"); err != nil {
		return err
	}
	return p.place.makeDir(name, mode)
}

func (p faultyPlace) enter(name string) (place, error) {
	if err := p.f.at("enter"); err != nil {
		return nil, err
	}
	below, err := p.place.enter(name)
	if err != nil {
		return nil, err
	}
	return faultyPlace{below, p.f}, nil
}

func (p faultyPlace) sync() error {
	if err := p.f.at("sync directory"); err != nil {
		return err
	}
	return p.place.sync()
}

type faultyTarget struct {
	target
	f *faultySource
}

// writeAt writes in two halves, so that a fault can come between them.
func (t faultyTarget) writeAt(p []byte, off int64) error {
	half := len(p) / 2
	if err := t.f.at("write"); err != nil {
		return err
	}
	if err := t.target.writeAt(p[:half], off); err != nil {
		return err
	}
	if err := t.f.at("write on"); err != nil {
		return err
	}
	return t.target.writeAt(p[half:], off+int64(half))
}

func (t faultyTarget) reserve(size int64) error {
	if err := t.f.at("reserve"); err != nil {
		return err
	}
	return t.target.reserve(size)
}

func (t faultyTarget) truncate(size int64) error {
	if err := t.f.at("truncate"); err != nil {
		return err
	}
	return t.target.truncate(size)
}

func (t faultyTarget) adopt(a attributes) error {
	if err := t.f.at("adopt"); err != nil {
		return err
	}
	return t.target.adopt(a)
}

func (t faultyTarget) chmod(mode uint32) error {
	if err := t.f.at("chmod"); err != nil {
		return err
	}
	return t.target.chmod(mode)
}

func (t faultyTarget) sync() error {
	if err := t.f.at("sync"); err != nil {
		return err
	}
	return t.target.sync()
}
