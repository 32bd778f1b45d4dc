//go:build unix

package tmuxcompat

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Paste buffers hold texts that programs store to paste them into a pane. They are in a file beside the file of
// numbers, newest first.

// buffer is a paste buffer of tmux.
type buffer struct {
	Socket  string `json:"socket"`
	Name    string `json:"name"`
	Auto    int    `json:"auto,omitempty"` // number plus one of an automatically named buffer
	Created int64  `json:"made"`           // time of creation, in Unix seconds
	Data    []byte `json:"data"`
}

const (
	maxBuffer      = 1 << 20
	maxAutoBuffers = 50 // buffer-limit
	maxNamed       = 200
)

func (c *call) buffersPath() string { return strings.TrimSuffix(c.Numbers, ".json") + "-buffers.json" }

// allBuffers returns the buffers of all sockets.
func (c *call) allBuffers() (all []buffer, err error) {
	b, err := os.ReadFile(c.buffersPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if json.Unmarshal(b, &all) != nil {
		return nil, nil // one that cannot be read is made again
	}
	return all, nil
}

func (c *call) buffers() ([]buffer, error) {
	all, err := c.allBuffers()
	return slices.DeleteFunc(all, func(b buffer) bool { return b.Socket != c.socket }), err
}

// setBuffers replaces this socket's buffers.
func (c *call) setBuffers(own []buffer) error {
	all, err := c.allBuffers()
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(all, func(b buffer) bool { return b.Socket == c.socket })
	if len(others)+len(own) == 0 {
		if err := os.Remove(c.buffersPath()); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	b, err := json.Marshal(slices.Concat(own, others))
	if err != nil {
		return err
	}
	return atomicfile.Write(c.buffersPath(), atomicfile.Options{}, b)
}

// putBuffer stores a text in the buffer with this name, or in a new automatic buffer without one.
func (x *command) putBuffer(name string, data []byte) error {
	if len(data) > maxBuffer {
		return fail("the text is larger than %d bytes; type it with send-keys -l in parts", maxBuffer)
	}
	all, err := x.buffers()
	if err != nil {
		return err
	}
	b := buffer{Socket: x.socket, Name: name, Created: now(), Data: data}
	if name == "" {
		for _, o := range all {
			b.Auto = max(b.Auto, o.Auto)
		}
		b.Name = "buffer" + strconv.Itoa(b.Auto)
		b.Auto++
	}
	all = slices.DeleteFunc(all, func(o buffer) bool { return o.Name == b.Name })
	all = slices.Insert(all, 0, b)
	auto, named := 0, 0
	all = slices.DeleteFunc(all, func(o buffer) bool {
		if o.Auto > 0 {
			auto++
			return auto > maxAutoBuffers
		}
		named++
		return named > maxNamed
	})
	return x.setBuffers(all)
}

// buffer returns the buffer named by -b, else the newest, or nil without any.
func (x *command) buffer() (*buffer, error) {
	all, err := x.buffers()
	if err != nil {
		return nil, err
	}
	name := x.flag('b')
	i := slices.IndexFunc(all, func(b buffer) bool { return b.Name == name || name == "" })
	switch {
	case i >= 0:
		return &all[i], nil
	case name == "":
		return nil, nil
	case x.name == "delete-buffer" || x.name == "set-buffer":
		return nil, fail("unknown buffer: %s", name)
	}
	return nil, fail("no buffer %s", name)
}

// setBuffer implements set-buffer. -a appends to the buffer, -n renames it.
func setBuffer(x *command) error {
	if x.has('n') {
		b, err := x.buffer()
		if err != nil || b == nil {
			return cmp.Or(err, fail("no buffer"))
		}
		if err := deleteBuffer(x); err != nil {
			return err
		}
		return x.putBuffer(x.flag('n'), b.Data)
	}
	if len(x.args) != 1 {
		return fail("no data specified")
	}
	data := []byte(x.args[0])
	if x.has('a') {
		if b, _ := x.buffer(); b != nil { // else it is a new one
			data = slices.Concat(b.Data, data)
		}
	}
	if len(data) == 0 {
		return nil
	}
	return x.putBuffer(x.flag('b'), data)
}

// loadBuffer implements load-buffer: it reads a file, or standard input with -.
func loadBuffer(x *command) error {
	if len(x.args) != 1 {
		return fail("command load-buffer: too few arguments (need at least 1)")
	}
	path := x.format(x.args[0], x.current())
	from := x.Stdin
	if path != "-" {
		f, err := os.Open(x.path(path))
		if err != nil {
			return fileFailure(path, err)
		}
		defer f.Close()
		from = f
	}
	if from == nil {
		return fail("no standard input")
	}
	data, err := io.ReadAll(io.LimitReader(from, maxBuffer+1))
	if err != nil {
		return fileFailure(path, err)
	}
	if len(data) == 0 {
		return nil
	}
	return x.putBuffer(x.flag('b'), data)
}

// path returns a path relative to the caller's directory.
func (x *command) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(x.Cwd, path)
}

// fileFailure returns an error in tmux's form, in which the reason starts with a capital letter.
func fileFailure(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	text := err.Error()
	return fail("%s: %s", path, strings.ToUpper(text[:1])+text[1:])
}

// saveBuffer implements save-buffer and show-buffer.
func saveBuffer(x *command) error {
	path := "-"
	if x.name == "save-buffer" {
		if len(x.args) != 1 {
			return fail("command save-buffer: too few arguments (need at least 1)")
		}
		path = x.format(x.args[0], x.current())
	}
	b, err := x.buffer()
	switch {
	case err != nil:
		return err
	case b == nil:
		return fail("no buffers")
	case path == "-":
		_, err := x.Stdout.Write(b.Data)
		return err
	}
	how := os.O_TRUNC
	if x.has('a') {
		how = os.O_APPEND
	}
	f, err := os.OpenFile(x.path(path), os.O_CREATE|os.O_WRONLY|how, 0o666)
	if err != nil {
		return fileFailure(path, err)
	}
	_, err = f.Write(b.Data)
	return errors.Join(err, f.Close())
}

func deleteBuffer(x *command) error {
	b, err := x.buffer()
	switch {
	case err != nil:
		return err
	case b == nil:
		return fail("no buffer")
	}
	all, err := x.buffers()
	if err != nil {
		return err
	}
	return x.setBuffers(slices.DeleteFunc(all, func(o buffer) bool { return o.Name == b.Name }))
}

// pasteBuffer implements paste-buffer. Lines end with Enter, or with the separator of -s.
func pasteBuffer(x *command) error {
	p, err := x.pane(x.flag('t'))
	if err != nil {
		return err
	}
	b, err := x.buffer()
	if err != nil || b == nil {
		return err
	}
	end := "\r"
	switch {
	case x.has('s'):
		end = x.flag('s')
	case x.has('r'):
		end = "\n"
	}
	text := strings.ReplaceAll(string(b.Data), "\n", end)
	in := api.Input{Data: []byte(text), Auto: true}
	if x.has('p') { // bracketed, if the program enabled bracketed paste
		in = api.Input{Paste: &text, Auto: true}
	}
	if _, err := x.daemon.Session(p.s.ID).Type(x.ctx, in); err != nil {
		return err
	}
	if !x.has('d') {
		return nil
	}
	x.flags['b'] = []string{b.Name}
	return deleteBuffer(x)
}

func listBuffers(x *command) error {
	all, err := x.buffers()
	if err != nil {
		return err
	}
	format := `#{buffer_name}: #{buffer_size} bytes: "#{buffer_sample}"`
	if x.has('F') {
		format = x.flag('F')
	}
	for _, b := range all {
		line := expand(format, func(name string) string {
			switch name {
			case "buffer_name":
				return b.Name
			case "buffer_size":
				return strconv.Itoa(len(b.Data))
			case "buffer_created":
				return strconv.FormatInt(b.Created, 10)
			case "buffer_sample":
				return sample(b.Data)
			}
			return ""
		})
		if _, err := fmt.Fprintln(x.Stdout, line); err != nil {
			return err
		}
	}
	return nil
}

// sample returns the start of a text in one line.
func sample(data []byte) string {
	const most = 200
	quoted := strconv.Quote(string(data[:min(len(data), most)]))
	text := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	if len(data) > most {
		text += "..."
	}
	return text
}
