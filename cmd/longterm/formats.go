package main

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// screenFormats are the formats a screen can be printed in.
var screenFormats = []string{"text", "json", "ansi"}

func checkFormat(format string) error {
	for _, f := range screenFormats {
		if f == format {
			return nil
		}
	}
	return usagef("unknown format %q; there are %s", format, strings.Join(screenFormats, ", "))
}

// printScreen prints what the daemon sent, ended by a newline.
func (a *app) printScreen(b []byte, format string) error {
	if format == "json" {
		var out bytes.Buffer
		if err := json.Compact(&out, b); err != nil {
			return err
		}
		b = out.Bytes()
	}
	if !bytes.HasSuffix(b, []byte("\n")) {
		b = append(b, '\n')
	}
	_, err := a.stdout.Write(b)
	return err
}

func parseSize(s string) (cols, rows int, err error) {
	c, r, ok := strings.Cut(strings.ToLower(s), "x")
	cols, errC := strconv.Atoi(c)
	rows, errR := strconv.Atoi(r)
	if !ok || errC != nil || errR != nil {
		return 0, 0, usagef("size %q is not COLSxROWS, as in 120x40", s)
	}
	return cols, rows, nil
}
