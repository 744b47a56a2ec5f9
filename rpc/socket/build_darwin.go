package socket

import (
	"bytes"
	"io"
	"os"
)

// textStart bounds where the linker's marker is looked for: it is the first
// thing in the text section, behind the load commands.
const textStart = 64 << 10

func buildID() ([]byte, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	start := make([]byte, textStart)
	n, err := io.ReadFull(file, start)
	if err != nil && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if id, found := textBuildID(start[:n]); found {
		return id, nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return digest(file)
}

// textBuildID finds the id that the linker writes in front of the text section
// where the file format has no notes.
func textBuildID(start []byte) ([]byte, bool) {
	_, rest, found := bytes.Cut(start, []byte("\xff Go build ID: \""))
	if !found {
		return nil, false
	}
	id, _, found := bytes.Cut(rest, []byte("\"\n \xff"))
	return id, found && len(id) > 0
}
