package main

import (
	"fmt"
	"log/slog"
	"path/filepath"

	"mapd/rpc/wire"
	"mapd/workspace/store"
)

// storeFormat is in the name of the store's file, so that a daemon that keeps
// values in another way has a file of its own.
const storeFormat = 1

// cacheDir returns $XDG_CACHE_HOME/mapd, by default below ~/.cache, and "" if
// neither is known.
func cacheDir(getenv func(string) string) string {
	cache := getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(cache) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "mapd")
}

// storePath returns the file of the store, and the directory of the names of
// workspaces, in a cache directory.
func storePath(cache string) (file, names string) {
	return filepath.Join(cache, fmt.Sprintf("outlines-%d.db", storeFormat)), filepath.Join(cache, "names")
}

// openStore opens what is kept between daemons. Both are nil without a cache
// directory.
func openStore(getenv func(string) string, limit int64, log *slog.Logger) (*store.Store, *store.Blobs) {
	cache := cacheDir(getenv)
	if cache == "" {
		log.Warn("no store", "why", "neither XDG_CACHE_HOME nor HOME is set")
		return nil, nil
	}
	file, names := storePath(cache)
	return store.Open(store.Options{Path: file, Limit: limit, Log: log}), &store.Blobs{Dir: names, Limit: limit}
}

// storeStatus describes a store, which may be nil, for mapd/status.
func storeStatus(s *store.Store) *wire.StoreStatus {
	if s == nil {
		return &wire.StoreStatus{State: "none"}
	}
	st := s.Stats()
	return &wire.StoreStatus{
		Path: st.Path, State: string(st.State), Why: st.Why,
		Entries: st.Entries, Bytes: st.Bytes, FileBytes: st.FileBytes,
		Hits: st.Hits, Misses: st.Misses, Damaged: st.Damaged,
		Puts: st.Puts, Dropped: st.Dropped, Evicted: st.Evicted, Flushes: st.Flushes, FlushMs: st.FlushTime.Milliseconds(),
	}
}
