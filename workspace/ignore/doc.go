// Package ignore decides which files of a directory tree belong to a
// workspace, as git decides it: .gitignore files at every level, info/exclude,
// core.excludesFile, and the files that are tracked although a pattern names
// them; and on top of them .ignore files, which outrank all patterns of git.
//
// The goal is exact agreement with
//
//	git ls-files --cached --others --exclude-standard
//
// on what exists, quirks of its matcher included; the tests compare the two on
// generated trees. Not followed: includeIf in git's configuration, split and
// sparse indexes (no file counts as tracked-though-ignored then), and patterns
// in files larger than 4 MiB.
//
// It is written for this module because no library that can be had agrees with
// git: go-git compares patterns element by element and differs in brackets,
// escapes and "**", and the others translate patterns to regular expressions.
package ignore
