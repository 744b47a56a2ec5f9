package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mapd/cmd/mapd/config"
	"mapd/cmd/mapd/doctor"
	"mapd/rpc"
	"mapd/rpc/socket"
	"mapd/workspace"
	"mapd/workspace/store"
)

func (a *app) doctorCommand() *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what keeps mapd from working here, and say what to do",
		Long: "Look for what keeps mapd from working here: build, socket, permissions, configuration, the system's\nlimits, store, workers and clients. One line for each finding; a problem's line ends with its remedy.\n" +
			"Without --repair it changes nothing, and it starts no daemon. The exit code is 1 if there is a problem.",
		Example: "  mapd doctor\n  mapd doctor --json",
		Args:    usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			opt := a.doctorOptions()
			if repair {
				if err := errors.Join(store.Repair(opt.Store), opt.Blobs.Repair()); err != nil {
					return err
				}
			}
			findings := doctor.Run(cmd.Context(), opt)
			well := doctor.Well(findings)
			if a.json {
				if err := a.printJSON(struct {
					OK       bool             `json:"ok"`
					Findings []doctor.Finding `json:"findings"`
				}{well, findings}); err != nil {
					return err
				}
			} else {
				a.printFindings(findings)
			}
			if !well {
				return errReported
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "empty what is damaged of the store first; no daemon may use it")
	return cmd
}

func (a *app) doctorOptions() doctor.Options {
	opt := doctor.Options{Getenv: a.getenv, Version: version(), Build: socket.Build, Config: a.conf.file, Warnings: a.conf.warnings}
	limits, err := rpc.LimitsFromEnv(a.conf.getenv)
	if err != nil {
		opt.Warnings = append(opt.Warnings, config.Warning{File: "environment", Line: 1, Reason: err.Error()})
	}
	if _, err := a.conf.roots(); err != nil {
		opt.Warnings = append(opt.Warnings, config.Warning{File: "environment", Line: 1, Reason: err.Error()})
	}
	opt.Outline = limits.Outline
	if cache := cacheDir(a.getenv); cache != "" {
		opt.Store, opt.Blobs.Dir = storePath(cache)
	}
	if dir, err := stateDir(a.getenv); err == nil {
		opt.StateDir = dir
	}
	if dir, err := os.Getwd(); err == nil {
		opt.Root = rootOf(dir).path
		path := filepath.Join(opt.Root, config.ProjectFile)
		if text, err := readRegular(path, workspace.MaxSettings); err == nil {
			_, warnings := a.conf.project(path, text, limits)
			opt.Warnings = append(opt.Warnings, warnings...)
		}
	}
	return opt
}

func (a *app) printFindings(findings []doctor.Finding) {
	s := a.screenOf(a.stdout)
	colors := map[doctor.Status]string{doctor.OK: green, doctor.Note: yellow, doctor.Problem: red}
	for _, f := range findings {
		line := f.Finding
		if f.Remedy != "" {
			line += "; " + f.Remedy
		}
		fmt.Fprintf(a.stdout, "%s  %-13s  %s\n", s.paint(colors[f.Status], fmt.Sprintf("%-7s", f.Status)), f.Check, visible(line))
	}
}
