package format

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mapd/outline/symbol"
)

// TestClojureForms puts forms together at random: each definition must have
// exactly its own lines, and nothing else is there.
func TestClojureForms(t *testing.T) {
	pieces := []sqlPiece{
		{"(defn f%d\n  \"(defn no [] \\\" 1)\"\n  [x]\n  (let [y \\(] ; (def no 1))\n    y))", "f%d"},
		{"(def ^{:doc \"(\"} v%d #\"\\)(\")", "v%d"},
		{"#_(defn no%d [])", ""},
		{"(comment\n (defn no%d []))", ""},
		{"; (def no%d 1)", ""},
		{"(defmethod m%d :k [x] {:a #{x}})", "m%d :k"},
		{"'(def no%d 1)", ""},
		{"(println (def no%d 1))", ""},
		{"(do\n  (def d%d 1))", ""},
	}
	rng := rand.New(rand.NewPCG(15, 16))
	for range 1000 {
		var text strings.Builder
		var want []keyAt
		line := 1
		for i := range 1 + rng.IntN(10) {
			p := pieces[rng.IntN(len(pieces))]
			s := strings.ReplaceAll(p.text, "%d", fmt.Sprint(i)) + "\n"
			n := strings.Count(s, "\n")
			switch {
			case p.name != "":
				want = append(want, keyAt{strings.ReplaceAll(p.name, "%d", fmt.Sprint(i)), line, line + n - 1})
			case strings.HasPrefix(s, "(do"):
				want = append(want, keyAt{fmt.Sprint("d", i), line + 1, line + 1})
			}
			text.WriteString(s)
			line += n
		}
		list := mustScan(t, "clojure", []byte(text.String()))
		var got []keyAt
		symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
			got = append(got, keyAt{s.Name, s.Start, s.End})
			return true
		})
		if diff := gocmp.Diff(want, got); diff != "" || list.Why != "" {
			t.Fatalf("%s\n%s (-want +got) %s", text.String(), list.Why, diff)
		}
	}
}

// TestEDNIsLikeJSON writes JSON as EDN and compares the keys.
func TestEDNIsLikeJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for range 500 {
		data := randomJSON(rng)
		edn := strings.ReplaceAll(string(data), ":", " ") // no string of the generator has one
		var want []keyAt
		for _, k := range oracleKeys(t, data) {
			want = append(want, keyAt{Path: lastName(k.Path), Start: k.Start})
		}
		var got []keyAt
		for _, k := range scannedKeys(mustScan(t, "edn", []byte(edn))) {
			got = append(got, keyAt{Path: strings.Trim(lastName(k.Path), `"`), Start: k.Start})
		}
		for i := range want {
			want[i].Path = strings.Trim(want[i].Path, `"`)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n(-json +edn) %s", edn, diff)
		}
	}
}

func lastName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func TestClojureHostile(t *testing.T) {
	tests := map[string]string{
		"parens":   huge("(", 10<<20),
		"closing":  huge(")", 10<<20),
		"do":       huge("(do ", 1<<20),
		"margin":   huge("(\n", 1<<20),
		"quotes":   huge("\"", 10<<20+1),
		"meta":     huge("^", 10<<20),
		"discards": huge("#_", 5<<20) + huge("a ", 1<<20),
		"maps":     huge("{:a ", 1<<20),
		"defs":     huge("(def a 1)\n", 1<<18),
		"args":     "(defn f " + huge("[a] ", 1<<20) + ")",
		"arities":  "(defn f " + huge("([a]) ", 1<<19) + ")",
		"NULs":     huge("\x00", 1<<20),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			mustScan(t, "clojure", []byte(data))
			mustScan(t, "edn", []byte(data))
		})
	}
}

func FuzzClojure(f *testing.F) {
	f.Add([]byte("(ns a (:require [b :as c]))\n(defn f \"d\" [x] #_y ^z {:k #{1}})\n#?(:clj (def a 1))\n(defmethod m [1] [])"))
	f.Add([]byte("{:a [1 {:b \\c}] #:x{:d 1} \"e\n(def"))
	f.Fuzz(func(t *testing.T, data []byte) {
		mustScan(t, "clojure", data)
		mustScan(t, "edn", data)
	})
}
