package config

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/notify/webhook"
	"github.com/longterm-dev/longterm/vterm/input"
)

// setText sets a value from text, in the form of the command line.
func (r *KeySpec) setText(s *Settings, text string) error {
	switch p := r.field(s).(type) {
	case *bool:
		v, err := strconv.ParseBool(text)
		if err != nil {
			return r.invalidError(text)
		}
		*p = v
	case *int:
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return r.invalidError(text)
		}
		*p = int(v)
		return r.checkBounds(v, text)
	case *int64:
		v, err := ParseBytes(text)
		if err != nil {
			return fmt.Errorf("%w; %s", err, r.AllowedText())
		}
		*p = v
		return r.checkBounds(v, text)
	case *time.Duration:
		v, err := ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%w; %s", err, r.AllowedText())
		}
		*p = v
		return r.checkBounds(int64(v), text)
	case *string:
		*p = text
		return r.checkText(text)
	case *[]string:
		*p = strings.Fields(text)
	}
	return nil
}

// Get returns a value as text, in the form of setText.
func (r *KeySpec) Get(s *Settings) string {
	switch p := r.field(s).(type) {
	case *bool:
		return strconv.FormatBool(*p)
	case *int:
		return strconv.Itoa(*p)
	case *int64:
		return FormatBytes(*p)
	case *time.Duration:
		return FormatDuration(*p)
	case *string:
		return *p
	case *[]string:
		return strings.Join(*p, " ")
	}
	return ""
}

// invalidError returns the error of a text that is no value of the kind.
func (r *KeySpec) invalidError(text string) error {
	return fmt.Errorf("%q is no %s; %s", text, r.Kind, r.AllowedText())
}

// checkBounds checks a number against Min and Max.
func (r *KeySpec) checkBounds(v int64, text string) error {
	if v < r.Min || v > r.Max {
		return fmt.Errorf("%s is out of bounds; %s", text, r.AllowedText())
	}
	return nil
}

// checkText checks a text against the row's kind and key.
func (r *KeySpec) checkText(text string) error {
	switch {
	case r.Kind == Choice && !slices.Contains(r.Values, text):
		return fmt.Errorf("%q is not possible; %s", text, r.AllowedText())
	case r.Kind == Chord:
		return attach.CheckKey(text)
	case r.Kind == Keys:
		return checkKey(text)
	case r.Key == "notify.webhook" && text != "":
		if err := webhook.CheckURL(text); err != nil {
			return fmt.Errorf("%q is no URL of a web server; give one as in \"https://host/path\"", text)
		}
	case r.Key == "policy.roots":
		if text != "~" && !strings.HasPrefix(text, "~/") && !filepath.IsAbs(text) {
			return fmt.Errorf("%q is not an absolute path; give each directory as in \"~/work\" or \"/srv/build\"", text)
		}
	case strings.HasSuffix(r.Key, ".shell") || r.Key == "shells.default":
		if text != "" && !filepath.IsAbs(text) {
			return fmt.Errorf("%q is no absolute path; give one as in \"/bin/bash\"", text)
		}
	}
	return nil
}

// checkKey checks the name of a key.
func checkKey(text string) error {
	if text == "" {
		return errors.New(`no key is named; give one as in "C-Space" or "F5"`)
	}
	if _, err := input.ParseKey(text); err != nil {
		return fmt.Errorf("%w; keys are named as in C-Space, M-x, F5 or z", err)
	}
	return nil
}

// AllowedText describes the allowed values.
func (r *KeySpec) AllowedText() string {
	switch r.Kind {
	case Bool:
		return "true or false"
	case Int:
		return fmt.Sprintf("%d to %d", r.Min, r.Max)
	case Bytes:
		if r.Max == math.MaxInt64 {
			return `a size as in "500MB" or "2GiB"`
		}
		return fmt.Sprintf("a size, %s to %s", FormatBytes(r.Min), FormatBytes(r.Max))
	case Duration:
		return fmt.Sprintf("a time, %s to %s", FormatDuration(time.Duration(r.Min)), FormatDuration(time.Duration(r.Max)))
	case Choice:
		return strings.Join(r.Values, ", ")
	case Chord:
		return `a control key and a key, as in "C-a d"; empty: none`
	case Keys:
		return `name of a key, as in "C-Space"`
	case List:
		return "texts"
	}
	return "a text"
}

// byteUnits lists the units of sizes, largest first.
var byteUnits = []struct {
	name string
	n    int64
}{
	{"PiB", 1 << 50}, {"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"PB", 1e15}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

// ParseBytes parses a size such as 2GiB, 500MB, 1.5 GB or 4096. Units of one letter (K, M, G, T) are powers of 1024.
func ParseBytes(text string) (int64, error) {
	number, unit := splitUnit(text)
	scale := int64(0)
	for _, u := range byteUnits {
		if strings.EqualFold(unit, u.name) || len(unit) == 1 && strings.EqualFold(unit+"iB", u.name) {
			scale = u.n
			break
		}
	}
	if unit == "" {
		scale = 1
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || scale == 0 || f < 0 || !isPlain(number) {
		return 0, fmt.Errorf(`%q is no size; give one as in "500MB" or "2GiB"`, text)
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil { // exact
		if n > math.MaxInt64/scale {
			return 0, fmt.Errorf("%s is too much", text)
		}
		return n * scale, nil
	}
	if f*float64(scale) >= math.MaxInt64 {
		return 0, fmt.Errorf("%s is too much", text)
	}
	return int64(f * float64(scale)), nil
}

// isPlain reports whether a number has only digits and dots; ParseFloat also accepts exponents, hexadecimal, Inf, underscores.
func isPlain(number string) bool { return strings.Trim(number, "0123456789.") == "" }

// splitUnit splits a size into number and unit.
func splitUnit(text string) (number, unit string) {
	text = strings.TrimSpace(text)
	i := strings.LastIndexAny(text, "0123456789.") + 1
	return text[:i], strings.TrimSpace(text[i:])
}

// FormatBytes formats a size with the largest unit that divides it.
func FormatBytes(n int64) string {
	if n == 0 {
		return "0"
	}
	for _, u := range byteUnits {
		if u.n > 1 && n%u.n == 0 {
			return strconv.FormatInt(n/u.n, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// timeUnits lists the units of durations, largest first.
var timeUnits = []struct {
	name string
	d    time.Duration
}{{"y", year}, {"w", 7 * day}, {"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond}, {"ns", 1}}

// ParseDuration parses a duration such as 90d, 1h30m, 200ms, or 0. y is 365 days, w 7.
func ParseDuration(text string) (time.Duration, error) {
	wrong := fmt.Errorf(`%q is no time; give one as in "90d", "5m", "1h30m" or "200ms"`, text)
	rest, total := strings.TrimSpace(text), 0.0
	if rest == "0" {
		return 0, nil
	}
	if rest == "" {
		return 0, wrong
	}
	exact := time.Duration(0)
	for rest != "" {
		i := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if i < 1 {
			return 0, wrong
		}
		number := rest[:i]
		j := i
		for j < len(rest) && rest[j] >= 'a' && rest[j] <= 'z' {
			j++
		}
		unit := time.Duration(0)
		for _, u := range timeUnits {
			if u.name == rest[i:j] {
				unit = u.d
			}
		}
		f, err := strconv.ParseFloat(number, 64)
		if unit == 0 || err != nil {
			return 0, wrong
		}
		if total += f * float64(unit); total >= math.MaxInt64 {
			return 0, fmt.Errorf("%s is too long", text)
		}
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			exact += time.Duration(n) * unit
		} else {
			exact += time.Duration(f * float64(unit))
		}
		rest = strings.TrimLeft(rest[j:], " ")
	}
	return exact, nil
}

// FormatDuration formats a duration in the units of ParseDuration.
func FormatDuration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	var b strings.Builder
	for _, u := range timeUnits {
		if u.name == "y" || u.name == "w" { // days are clearer
			continue
		}
		if n := d / u.d; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10) + u.name)
			d -= n * u.d
		}
	}
	return b.String()
}
