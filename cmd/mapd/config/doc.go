// Package config reads mapd's configuration files: one of the user and one of
// each project. It is pure: bytes in, settings and warnings out.
//
// What a command line says outranks the environment, that outranks the project's
// file, that the user's file, and that what is built in. The project's file came
// with the project and is not trusted: it may name files to ignore, say which
// language an extension is of, and lower limits. Nothing in it can make mapd read,
// show or use more than it would without it.
//
// A field that is unknown, misspelt or out of range is left out with a warning
// that names its line, and the others count. A list of roots is the exception,
// because it is a fence: where it cannot be understood, no root is allowed.
package config
