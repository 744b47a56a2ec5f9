package format

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// sqlPiece is a statement whose symbol is known: its name, and how many lines
// it has.
type sqlPiece struct{ text, name string }

var sqlPieces = []sqlPiece{
	{"CREATE TABLE t%d (a int, b text DEFAULT 'x;y');", "t%d"},
	{"create table \"T;%d\" (\n  a int\n);", "T;%d"},
	{"CREATE OR REPLACE FUNCTION f%d() RETURNS void AS $fn$\nBEGIN\n  CREATE TABLE no (a int);\nEND;\n$fn$ LANGUAGE plpgsql;", "f%d"},
	{"CREATE TRIGGER g%d AFTER INSERT ON t BEGIN\n  SELECT CASE WHEN 1 THEN 2 END;\nEND;", "g%d"},
	{"-- lead; comment\nCREATE VIEW v%d AS\n  SELECT 1 -- ;\n  FROM x;", "v%d"},
	{"SELECT ';%d', $$ CREATE TABLE no%d (a int); $$;", ""},
	{"/* CREATE TABLE no (a int); /* nested %d; */ ; */", ""},
	{"UPDATE t SET a = 'it''s; %d';", ""},
	{"CREATE INDEX i%d ON t (a);", "i%d"},
	{"CREATE TYPE e%d AS ENUM ('a;', 'b');", "e%d"},
	{"CREATE FUNCTION h%d() RETURNS int BEGIN ATOMIC\n  SELECT 1;\n  SELECT 2;\nEND;", "h%d"},
}

// TestSQLStatements puts statements together at random: each must have exactly
// its own lines.
func TestSQLStatements(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 1000 {
		var text strings.Builder
		var want []keyAt
		line := 1
		for i := range 1 + rng.IntN(10) {
			p := sqlPieces[rng.IntN(len(sqlPieces))]
			s := strings.ReplaceAll(p.text, "%d", fmt.Sprint(i))
			start, end := line, line+strings.Count(s, "\n")
			if strings.HasPrefix(s, "-- ") {
				start++
			}
			if p.name != "" {
				want = append(want, keyAt{strings.ReplaceAll(p.name, "%d", fmt.Sprint(i)), start, end})
			}
			gap := []string{"\n", "\n\n", " -- c\n"}[rng.IntN(3)]
			text.WriteString(s + gap)
			line = end + strings.Count(gap, "\n")
		}
		list := mustScan(t, "sql", []byte(text.String()))
		var got []keyAt
		for _, s := range list.Symbols {
			got = append(got, keyAt{s.Name, s.Start, s.End})
		}
		if diff := gocmp.Diff(want, got); diff != "" || list.Why != "" {
			t.Fatalf("%s\n%s (-want +got) %s", text.String(), list.Why, diff)
		}
	}
}

var createTable = regexp.MustCompile(`(?mi)^create table (?:if not exists )?([\w.]+) ?\(`)

// TestSQLRealFiles compares the tables of real files with those that a plain
// pattern finds at the start of lines.
func TestSQLRealFiles(t *testing.T) {
	files := realFiles(t, ".sql", 4<<20, 200)
	broken := 0
	for _, f := range files {
		list := mustScan(t, "sql", f.data)
		if list.Why != "" {
			broken++
			t.Logf("%s: %s", f.name, list.Why)
		}
		text := hashline.NewText(f.data)
		tables := map[string]bool{}
		symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
			if s.Kind == symbol.Table {
				tables[fmt.Sprint(s.Name, s.Start)] = true
			}
			return true
		})
		for _, m := range createTable.FindAllSubmatchIndex(f.data, -1) {
			if key := fmt.Sprint(string(f.data[m[2]:m[3]]), text.LineAt(m[0])); !tables[key] {
				t.Errorf("%s: no table %s", f.name, key)
			}
		}
	}
	t.Logf("%d of %d files are broken", broken, len(files))
}

func TestSQLHostile(t *testing.T) {
	tests := map[string]string{
		"quotes":    huge("'", 10<<20+1),
		"dollars":   huge("$a$ $b$ ", 1<<20),
		"tags":      manyTags(),
		"comments":  huge("/*", 5<<20),
		"creates":   huge("CREATE ", 1<<20),
		"begins":    "CREATE FUNCTION f() " + huge("BEGIN ", 1<<20) + huge(";\nCREATE FUNCTION f() BEGIN", 1<<16),
		"parens":    "CREATE TABLE t (" + huge("(", 10<<20),
		"columns":   "CREATE TABLE t (" + huge("a int,\n", 1<<20) + "b int);",
		"inserts":   huge("INSERT INTO t VALUES (1);\n", 1<<18),
		"delimiter": huge("DELIMITER $$\n", 1<<18),
		"names":     huge("a.", 5<<20),
		"NULs":      huge("\x00", 1<<20),
		"escape":    "`a` " + huge("'\\' ", 1<<20),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) { mustScan(t, "sql", []byte(data)) })
	}
}

func manyTags() string {
	var b strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&b, "$t%d$ ", i)
	}
	return b.String()
}

func FuzzSQL(f *testing.F) {
	f.Add([]byte("CREATE TABLE a (b int, 'c' text);\nINSERT INTO a VALUES (1);\nCREATE TYPE e AS ENUM ('x');"))
	f.Add([]byte("DELIMITER //\nCREATE PROCEDURE p() BEGIN CASE 1 END; END//\n/*!50003 x */ COPY t FROM stdin;\n1\n\\.\nGO\n"))
	f.Fuzz(func(t *testing.T, data []byte) { mustScan(t, "sql", data) })
}
