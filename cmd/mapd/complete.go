package main

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mapd/outline/symbol"
	"mapd/rpc/client"
	"mapd/rpc/wire"
)

// Completions are asked for while somebody types: they take no longer than this,
// and offer no more than that.
const (
	completionTime = 2 * time.Second
	completionMost = 200
)

type completion = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// oneOf completes one of a few words.
func oneOf(words ...string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// firstFile completes a file for the first argument, and nothing behind it.
func firstFile(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeFlag sets the completion of a flag of cmd, which has it.
func completeFlag(cmd *cobra.Command, flag string, f completion) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag is not there, which every run would find
	}
}

// ask answers a completion by a call of the daemon. Whatever fails completes
// nothing: there is no place for an error on a command line that is typed.
func (a *app) ask(cmd *cobra.Command, roots []folder, method string, params, result any) bool {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	quiet := *a
	quiet.stderr = io.Discard
	quiet.session, quiet.conf = "", &configuration{outer: a.getenv, getenv: a.getenv}
	c, err := quiet.open(ctx, client.Options{Start: true, Getenv: a.getenv, Timeout: completionTime}, roots)
	if err != nil {
		return false
	}
	defer c.Close()
	return c.Call(ctx, method, params, result) == nil
}

// symbolOfFile completes the names of the symbols of the file that is the first
// argument.
func (a *app) symbolOfFile(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	t, err := parseTarget(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var r wire.MapResult
	var names []string
	if a.ask(cmd, t.roots, wire.MethodMap, wire.MapParams{URI: fileURI(t.path), Format: "json"}, &r) && r.Symbols != nil {
		names = symbolNames(*r.Symbols, "", typed, nil)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// symbolNames adds the names, with those of what holds them before a dot, that
// start as typed.
func symbolNames(symbols []symbol.Symbol, prefix, typed string, names []string) []string {
	for i := range symbols {
		if len(names) >= completionMost {
			return names
		}
		name := prefix + symbols[i].Name
		if strings.HasPrefix(name, typed) && !strings.ContainsAny(name, "\n\t") {
			names = append(names, name)
		}
		if strings.HasPrefix(typed, name+".") || typed == "" || prefix == "" && strings.HasPrefix(name, typed) {
			names = symbolNames(symbols[i].Children, name+".", typed, names)
		}
	}
	return names
}

// symbolOfRoot completes the names of symbols in the repository of the current
// directory.
func (a *app) symbolOfRoot(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	dir, err := os.Getwd()
	if err != nil || len(args) > 0 || typed == "" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var r wire.FindResult
	most := completionMost
	var names []string
	if a.ask(cmd, []folder{rootOf(dir)}, wire.MethodFind, wire.FindParams{Query: typed, Mode: wire.FindSymbol, Limit: &most}, &r) {
		seen := map[string]bool{}
		for _, hit := range r.Results {
			if strings.HasPrefix(hit.Name, typed) && !seen[hit.Name] {
				seen[hit.Name] = true
				names = append(names, hit.Name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
