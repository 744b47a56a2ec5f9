package socket

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
)

// roleEnv makes the test binary play another process: the role, and its
// argument.
const (
	roleEnv     = "MAPD_TEST_ROLE"
	argumentEnv = "MAPD_TEST_ARGUMENT"
)

func play(role string) error {
	argument := os.Getenv(argumentEnv)
	switch role {
	case "connect": // and print what is sent
		c, err := net.Dial("unix", argument)
		if err != nil {
			return err
		}
		_, err = io.Copy(os.Stdout, c)
		return err
	case "listen": // until stdin ends
		l, err := net.Listen("unix", argument)
		if err != nil {
			return err
		}
		defer l.Close()
		if err := os.Chmod(argument, 0o777); err != nil {
			return err
		}
		fmt.Println("ready")
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	case "build": // of a file that is not there any more
		if argument != "" {
			if err := os.Remove(argument); err != nil {
				return err
			}
		}
		build, err := Build()
		fmt.Println(build)
		return err
	}
	return fmt.Errorf("no role %q", role)
}

func player(path, role, argument string) *exec.Cmd {
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, argumentEnv+"="+argument)
	cmd.Stderr = os.Stderr
	return cmd
}
