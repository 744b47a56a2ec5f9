package main

import (
	"os"

	"github.com/spf13/cobra"

	"mapd/cmd/mapd/mcp"
	"mapd/rpc/client"
)

func (a *app) mcpCommand() *cobra.Command {
	var structured string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Join an MCP client on stdin and stdout to the shared daemon",
		Long: "Join an MCP client on stdin and stdout to the shared daemon, which is started if none runs.\n" +
			"It offers the tools read, map, find, check, edit, ledger, recover and status, for the roots of the client,\n" +
			"else for the nearest folder from the working directory upwards that holds .git. It ends with stdin.",
		Example: "  mapd install claude-code\n  claude mcp add mapd -- mapd mcp",
		Args:    usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			if f, ok := a.stdout.(*os.File); ok {
				widenPipe(f)
			}
			return mcp.Run(cmd.Context(), a.stdio(), mcp.Options{
				Daemon: client.Options{Getenv: a.getenv}, Version: version(), Dir: dir, Session: a.session, Umask: a.umask,
				Structured: structured, Log: newLogger(a.stderr, a.getenv),
			})
		},
	}
	cmd.Flags().StringVar(&structured, "structured", mcp.StructuredAuto, "send the result object beside the text: `auto`, always or never")
	return cmd
}
