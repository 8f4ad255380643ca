package cases

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// EachLine calls f for every line of r that is not empty. The slice is only valid during the call.
func EachLine(r io.Reader, f func(line []byte) error) error {
	br := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := br.ReadBytes('\n')
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 {
			if ferr := f(trimmed); ferr != nil {
				return ferr
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// LineWriter writes JSON values, one per line.
type LineWriter struct {
	buffered *bufio.Writer
	encoder  *json.Encoder
}

// NewLineWriter returns a LineWriter on w. Flush must be called at the end.
func NewLineWriter(w io.Writer) *LineWriter {
	buffered := bufio.NewWriterSize(w, 1<<20)
	encoder := json.NewEncoder(buffered)
	// CEL expressions contain && and >, which should stay readable.
	encoder.SetEscapeHTML(false)
	return &LineWriter{buffered: buffered, encoder: encoder}
}

// Write appends one line.
func (w *LineWriter) Write(v any) error { return w.encoder.Encode(v) }

// Flush writes out what is buffered.
func (w *LineWriter) Flush() error { return w.buffered.Flush() }

// Marshal encodes v like LineWriter does, without the line break.
func Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}
