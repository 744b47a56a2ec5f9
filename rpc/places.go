package rpc

import (
	"maps"
	"sync"

	"mapd/workspace"
)

// maxPlaces bounds how many renamed files are followed.
const maxPlaces = 1 << 14

// places knows where files are that are no longer called what ledgers call
// them. The zero value is ready for use.
type places struct {
	mu    sync.Mutex // guards where
	where map[string]string
}

// note notes where a version was read.
func (p *places) note(v *workspace.Version) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v.File() == v.Path() {
		delete(p.where, v.File())
		return
	}
	if p.where == nil || len(p.where) >= maxPlaces {
		p.where = map[string]string{}
	}
	p.where[v.File()] = v.Path()
}

// moved returns where the files are that are called otherwise in ledgers.
func (p *places) moved() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.where)
}

// of returns the path of a file by its name in the ledgers.
func (p *places) of(file string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if path, ok := p.where[file]; ok {
		return path
	}
	return file
}
