package sandbox

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// File contains the profiles of a sandbox.toml.
type File struct {
	Path     string
	profiles map[string]Profile
}

// maxFile bounds a file of profiles, in bytes; maxList the length of its lists.
const (
	maxFile = 1 << 20
	maxList = 4096
)

// Problem is an error of a file, with its position.
type Problem struct {
	Path         string
	Line, Column int // from 1; 0: unknown
	Text         string
}

func (p *Problem) Error() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d:%d: %s", p.Path, p.Line, p.Column, p.Text)
	}
	return p.Path + ": " + p.Text
}

// Load reads a file of profiles. A missing file gives the built-in ones only. A file with an error gives none: a profile
// that is not understood enforces nothing.
func Load(path string) (*File, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return &File{Path: path}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case len(src) > maxFile:
		return nil, &Problem{Path: path, Text: fmt.Sprintf("the file has more than %d bytes", maxFile)}
	}
	return Decode(path, src)
}

// LoadFor reads a file for one of its profiles. If the file has an error but cannot change that built-in profile,
// LoadFor returns the built-in one, and the error as wrong.
func LoadFor(path, name string) (f *File, wrong, err error) {
	f, err = Load(path)
	var p *Problem
	if _, built := Builtin(name); !errors.As(err, &p) || !built {
		return f, nil, err
	}
	src, readErr := os.ReadFile(path)
	if readErr != nil || len(src) > maxFile || mayDefine(string(src), name) {
		return nil, nil, err
	}
	return &File{Path: path}, err, nil
}

// mayDefine reports whether a text may define a profile of a name. It ignores comments and extends keys.
func mayDefine(src, name string) bool {
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		key, _, _ := strings.Cut(line, "=")
		if line == "" || line[0] == '#' || strings.TrimSpace(key) == "extends" {
			continue
		}
		if strings.Contains(line, name) || strings.Contains(key, "\\") { // a quoted key may escape the name
			return true
		}
	}
	return false
}

// profileFile is a profile as written in the file.
type profileFile struct {
	Description  string   `toml:"description"`
	Extends      string   `toml:"extends"`
	Level        string   `toml:"level"`
	Read         []string `toml:"read"`
	Write        []string `toml:"write"`
	Hide         []string `toml:"hide"`
	Credentials  []string `toml:"credentials"`
	Network      any      `toml:"network"`
	OnDifference string   `toml:"on_difference"`
	Git          string   `toml:"git"`
	UnixSockets  *bool    `toml:"unix_sockets"`
	PrivateTmp   *bool    `toml:"private_tmp"`
	Environment  string   `toml:"environment"`
	Env          []string `toml:"env"`
	Programs     []string `toml:"programs"`
	Image        string   `toml:"image"`
	Memory       int64    `toml:"memory"`
	CPU          float64  `toml:"cpus"`
	PIDs         int      `toml:"pids"`
	DraftSize    int64    `toml:"draft_size"`
}

// Keys lists the keys of a profile, for messages and docs.
var Keys = []string{
	"description", "extends", "level", "read", "write", "hide", "credentials", "network", "on_difference", "git", "unix_sockets",
	"private_tmp", "environment", "env", "programs", "image", "memory", "cpus", "pids", "draft_size",
}

// Decode decodes the content of a file.
func Decode(path string, src []byte) (*File, error) {
	var all map[string]profileFile
	d := toml.NewDecoder(strings.NewReader(string(src))).DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, problemOf(path, err)
	}
	f := &File{Path: path, profiles: map[string]Profile{}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p, err := profileOf(all, name, nil)
		if err == nil {
			err = p.check()
		}
		if err != nil {
			line, column := findHeader(src, name)
			return nil, &Problem{Path: path, Line: line, Column: column, Text: "[" + name + "]: " + err.Error()}
		}
		f.profiles[name] = p
	}
	return f, nil
}

// problemOf locates a TOML error and lists the valid keys.
func problemOf(path string, err error) error {
	p := &Problem{Path: path, Text: strings.TrimPrefix(err.Error(), "toml: ")}
	var strict *toml.StrictMissingError
	var dec *toml.DecodeError
	switch {
	case errors.As(err, &strict) && len(strict.Errors) > 0:
		dec = &strict.Errors[0]
		p.Text = fmt.Sprintf("unknown key %s; a profile has %s", strings.Join(dec.Key(), "."), strings.Join(Keys, ", "))
	case errors.As(err, &dec):
		p.Text = strings.TrimPrefix(dec.Error(), "toml: ")
	default:
		return p
	}
	p.Line, p.Column = dec.Position()
	return p
}

// findHeader returns the position of a profile's header.
func findHeader(src []byte, name string) (line, column int) {
	for i, l := range strings.Split(string(src), "\n") {
		head := strings.Trim(strings.TrimSpace(l), "[]\" '")
		if strings.HasPrefix(strings.TrimSpace(l), "[") && head == name {
			return i + 1, 1
		}
	}
	return 0, 0
}

// profileOf returns a profile merged with those that it extends.
func profileOf(all map[string]profileFile, name string, under []string) (Profile, error) {
	if slices.Contains(under, name) {
		return Profile{}, fmt.Errorf("it extends itself: %s", strings.Join(append(under, name), " → "))
	}
	w, ok := all[name]
	if !ok {
		p, ok := Builtin(name)
		if !ok {
			return p, fmt.Errorf("profile %s to extend not found", name)
		}
		return p, nil
	}
	var p Profile
	if w.Extends != "" {
		var err error
		if w.Extends == name { // the built-in profile of this name
			if p, ok = Builtin(name); !ok {
				err = fmt.Errorf("it extends itself")
			}
		} else {
			p, err = profileOf(all, w.Extends, append(under, name))
		}
		if err != nil {
			return p, err
		}
	}
	p.Name = name
	return p, w.mergeInto(&p)
}

// mergeInto merges the given values into p. It appends to lists of paths and replaces other values.
func (w *profileFile) mergeInto(p *Profile) error {
	setIfGiven(&p.Description, w.Description)
	setIfGiven((*string)(&p.Level), w.Level)
	setIfGiven(&p.OnDifference, w.OnDifference)
	setIfGiven(&p.Git, w.Git)
	setIfGiven(&p.Environment, w.Environment)
	setIfGiven(&p.Image, w.Image)
	p.Read, p.Write, p.Hide = concat(p.Read, w.Read), concat(p.Write, w.Write), concat(p.Hide, w.Hide)
	p.Credentials = concat(p.Credentials, w.Credentials)
	p.Env, p.Programs = concat(p.Env, w.Env), concat(p.Programs, w.Programs)
	if w.UnixSockets != nil {
		p.UnixSockets = *w.UnixSockets
	}
	switch {
	case w.PrivateTmp != nil:
		p.PrivateTmp = *w.PrivateTmp
	case w.Extends == "":
		p.PrivateTmp = true
	}
	if w.Memory != 0 {
		p.Memory = w.Memory
	}
	if w.CPU != 0 {
		p.CPU = w.CPU
	}
	if w.PIDs != 0 {
		p.PIDs = w.PIDs
	}
	if w.DraftSize != 0 {
		p.DraftSize = w.DraftSize
	}
	p.setDefaults()
	return w.readNetwork(p)
}

// concat returns a new list of both.
func concat(a, b []string) []string { return append(slices.Clone(a), b...) }

// setIfGiven stores a value unless it is empty.
func setIfGiven(to *string, value string) {
	if value != "" {
		*to = value
	}
}

// readNetwork sets "off", "on" or a list of hosts.
func (w *profileFile) readNetwork(p *Profile) error {
	switch n := w.Network.(type) {
	case nil:
		return nil
	case string:
		if n != string(NetworkOff) && n != string(NetworkOn) {
			return fmt.Errorf(`network %q; write "off", "on", or a list of hosts as in ["example.org", "*.example.org:443"]`, n)
		}
		p.Network, p.Hosts = Network(n), nil
	case []any:
		p.Network, p.Hosts = NetworkHosts, nil
		for _, v := range n {
			s, ok := v.(string)
			if !ok {
				return errors.New("network: the list has something that is no text in it")
			}
			if _, err := ParseHost(s); err != nil {
				return fmt.Errorf("network: %w", err)
			}
			p.Hosts = append(p.Hosts, s)
		}
	default:
		return errors.New(`network: write "off", "on", or a list of hosts`)
	}
	return nil
}

// choices returns the keys with a fixed set of values.
func (p *Profile) choices() []choice {
	var levels []string
	for _, l := range Levels() {
		levels = append(levels, string(l))
	}
	return []choice{
		{"level", string(p.Level), append(levels, "")},
		{"on_difference", p.OnDifference, []string{"deny", "ask"}},
		{"git", p.Git, []string{"read", "commit"}},
		{"environment", p.Environment, []string{"full", "minimal", "listed"}},
	}
}

// choice is a key with its value and the allowed values.
type choice struct {
	key, value string
	allowed    []string
}

// check checks a profile's values.
func (p *Profile) check() error {
	if !isName(p.Name) {
		return errors.New(nameRule)
	}
	for _, c := range p.choices() {
		if !slices.Contains(c.allowed, c.value) {
			return fmt.Errorf("%s %q; there are %s", c.key, c.value, strings.Trim(strings.Join(c.allowed, ", "), ", "))
		}
	}
	for key, list := range map[string][]string{"read": p.Read, "write": p.Write, "hide": p.Hide, "programs": p.Programs} {
		if len(list) > maxList {
			return fmt.Errorf("%s has %d paths; at most %d", key, len(list), maxList)
		}
		for _, path := range list {
			if err := checkPath(path); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	for _, name := range p.Credentials {
		if credentials[name] == "" {
			return fmt.Errorf("credentials: %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(credentials)), ", "))
		}
	}
	if p.Memory < 0 || p.CPU < 0 || p.PIDs < 0 || p.CPU != p.CPU || p.DraftSize < 0 {
		return errors.New("limits are positive numbers: memory in bytes, cpus, pids, draft_size in bytes")
	}
	if (p.Level == Docker || p.Level == Podman) && p.Image == "" {
		return fmt.Errorf(`level %s needs an image, as in image = "debian:12"`, p.Level)
	}
	return nil
}

// nameRule describes valid profile names.
const nameRule = "a profile name has up to 64 letters, digits, - and _, and does not start with -"

// isName reports whether s is a valid profile name.
func isName(s string) bool {
	return s != "" && s[0] != '-' && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// checkPath rejects an invalid path of a profile.
func checkPath(path string) error {
	p := strings.TrimPrefix(path, "?")
	switch {
	case strings.ContainsRune(p, 0):
		return fmt.Errorf("%q has a NUL byte", path)
	case p != "~" && p != "$CWD" && !strings.HasPrefix(p, "~/") && !strings.HasPrefix(p, "$CWD/") && !strings.HasPrefix(p, "/"):
		return fmt.Errorf("%q is not absolute; write /…, ~/… or $CWD/…", path)
	case slices.Contains(strings.Split(p, "/"), ".."):
		return fmt.Errorf("%q has .. in it; write where it leads", path)
	case len(p) > 4096:
		return errors.New("a path has more than 4096 bytes")
	}
	return nil
}
