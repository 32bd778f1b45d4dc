package config

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/notify/webhook"
)

// Hook is one of [[hooks]]: what is run when something happens.
type Hook struct {
	Name    string
	On      []string      // events, of HookEvents
	Session []string      // patterns of session names, one of which must match; none: any
	Label   []string      // KEY or KEY=VALUE, all of which the session must have; none: any
	Run     []string      // argv
	Webhook string        // URL that it is posted to, instead of Run
	Format  string        // of posted data
	Brief   bool          // it is not posted what was run and asked: notify.details
	Every   time.Duration // at most one run in so long; 0: no limit
	Timeout time.Duration // of a run
}

// HookEvent is something a hook is run for.
type HookEvent struct {
	Name, Help string
	Kinds      []string // of completions, which wait for the daemon; none: an event, which a stopped daemon misses
}

// HookEvents are what hooks can be run for.
var HookEvents = []HookEvent{
	{"exit", "a session's process ended, however", []string{"session"}},
	{"command", "a shell's command ended", []string{"command"}},
	{"job", "a job (`exec`, `run`, an agent's call) ended", []string{"job"}},
	{"finished", "one of these three ended with status 0; a job and its command count once", []string{"session", "command", "job"}},
	{"failed", "one of these three ended with a non-zero status, by a signal, or was lost; a job and its command count once", []string{"session", "command", "job"}},
	{"lost", "one of these three is not known to have ended: the machine went down, or what held it", []string{"session", "command", "job"}},
	{"input", "a program needs input", []string{"input"}},
	{"approval", "approval by a user is required", []string{"approval"}},
	{"new", "a session was made", nil},
	{"bell", "a session's bell rang", nil},
	{"agent", "the state of a coding agent changed", nil},
}

// HookKeys are the keys of [[hooks]].
var HookKeys = []ListKey{
	{"name", "text", "of the hook, 1 to 50 letters, digits, - _ and ."},
	{"on", "text or list of texts", "events it is run for, of the table below"},
	{"run", "list of texts", "program and arguments, as in `[\"notify-send\", \"done\"]`"},
	{"webhook", "text", "URL (http or https) to post it to, instead of `run`"},
	{"format", strings.Join(webhook.Formats, ", "), "how it is put for the webhook, as `notify.format`. Without: auto"},
	{"session", "text or list of texts", "only of sessions whose name fits one of these, as in `\"build-*\"`"},
	{"label", "text or list of texts", "only of sessions with these labels, as in `\"project=web\"`, or `\"project\"` for any value"},
	{"every", "a time", "at most one run per interval; further events are skipped and counted. Default: no limit"},
	{"timeout", "a time, 1s to 1h", "how long a run may take; then it is ended and has failed. Without: 1m"},
}

const (
	// DefaultHookTimeout bounds a hook's run without a configured timeout.
	DefaultHookTimeout = time.Minute
	maxHookTimeout     = time.Hour
	maxHookEvery       = 365 * 24 * time.Hour
	maxHookName        = 50 // bytes
	maxHooks           = 100
)

// hooks gathers [[hooks]].
type hooks struct {
	list []Hook
	at   []map[string]Place // of each: where it is, by key; "": the hook
}

func (h *hooks) item(d *decoder, it *tomldoc.Item) {
	if len(it.Path) < 3 {
		d.problem(it.At, "hooks", "hooks are sections; write [[hooks]]")
		return
	}
	n, err := strconv.Atoi(it.Path[1])
	key := strings.Join(it.Path[2:], ".")
	if err != nil || len(it.Path) != 3 || !slices.Contains(hookKeyNames(), key) {
		d.problem(it.At, "hooks."+key, "no such key%s; [[hooks]] has %s", suggest(key, hookKeyNames()), strings.Join(hookKeyNames(), ", "))
		return
	}
	for len(h.list) <= n {
		h.list, h.at = append(h.list, Hook{Timeout: DefaultHookTimeout}), append(h.at, map[string]Place{"": it.At})
	}
	h.at[n][key] = it.Value
	to := &h.list[n]
	switch key {
	case "name":
		err = textOf(it.Data, &to.Name)
	case "on":
		to.On, err = textsOf(it.Data)
	case "run":
		to.Run, err = listOf(it.Data)
	case "webhook":
		err = textOf(it.Data, &to.Webhook)
	case "format":
		err = textOf(it.Data, &to.Format)
	case "session":
		to.Session, err = textsOf(it.Data)
	case "label":
		to.Label, err = textsOf(it.Data)
	case "every":
		to.Every, err = timeOf(it.Data, 0, maxHookEvery)
	case "timeout":
		to.Timeout, err = timeOf(it.Data, time.Second, maxHookTimeout)
	}
	if err != nil {
		d.problem(it.Value, "hooks."+key, "found %s, %v", tomldoc.TypeName(it.Data), err)
		h.at[n]["wrong."+key] = it.Value
	}
}

func hookKeyNames() []string {
	var names []string
	for _, k := range HookKeys {
		names = append(names, k.Name)
	}
	return names
}

func hookEventNames() []string {
	var names []string
	for _, e := range HookEvents {
		names = append(names, e.Name)
	}
	return names
}

// textsOf returns a list of texts, or one text as a list.
func textsOf(data any) ([]string, error) {
	if one, ok := data.(string); ok {
		return []string{one}, nil
	}
	return listOf(data)
}

func timeOf(data any, least, most time.Duration) (time.Duration, error) {
	text, ok := data.(string)
	if !ok {
		return 0, errors.New(`want a time, as in "30s"`)
	}
	t, err := ParseDuration(text)
	if err == nil && (t < least || t > most) {
		err = fmt.Errorf("want %s to %s", FormatDuration(least), FormatDuration(most))
	}
	return t, err
}

// finish finds what no key alone is wrong with.
func (h *hooks) finish(d *decoder) {
	if len(h.list) > maxHooks {
		d.problem(h.at[maxHooks][""], "hooks", "there are %d hooks; at most %d are possible", len(h.list), maxHooks)
	}
	var names []string
	for i := range h.list {
		h.check(d, i, names)
		names = append(names, h.list[i].Name)
	}
	if d.file.Settings.Hooks = h.list; len(h.list) > 0 {
		d.file.places["hooks"] = h.at[0][""]
	}
}

func (h *hooks) check(d *decoder, i int, before []string) {
	one, at := &h.list[i], h.at[i]
	wrong := func(key, format string, args ...any) {
		if _, said := at["wrong."+key]; said {
			return
		}
		place, given := at[key]
		if !given {
			place = at[""]
		}
		d.problem(place, "hooks."+key, format, args...)
	}
	switch {
	case one.Name == "":
		wrong("name", `a hook needs a name, as in name = "desktop"`)
	case len(one.Name) > maxHookName || strings.Trim(one.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "":
		wrong("name", "%q is no name of a hook; use 1 to %d letters, digits, - _ and .", one.Name, maxHookName)
	case slices.Contains(before, one.Name):
		wrong("name", "the name %q comes twice", one.Name)
	}
	if len(one.On) == 0 {
		wrong("on", "missing events; known: %s", strings.Join(hookEventNames(), ", "))
	}
	for _, e := range one.On {
		if !slices.Contains(hookEventNames(), e) {
			wrong("on", "no event %q%s; there are %s", e, suggest(e, hookEventNames()), strings.Join(hookEventNames(), ", "))
		}
	}
	h.checkDeed(i, wrong)
	for _, word := range one.Run {
		if strings.ContainsRune(word, 0) {
			wrong("run", "a program's arguments have no NUL")
		}
	}
	for _, p := range one.Session {
		if _, err := path.Match(p, ""); err != nil {
			wrong("session", "%q is no pattern of names; * is any text, ? any character", p)
		}
	}
	for _, l := range one.Label {
		if key, _, _ := strings.Cut(l, "="); key == "" {
			wrong("label", "%q is no label; write KEY=VALUE, or KEY for any value", l)
		}
	}
}

// checkDeed finds what is wrong with what the hook does.
func (h *hooks) checkDeed(i int, wrong func(key, format string, args ...any)) {
	one, at := &h.list[i], h.at[i]
	_, posts := at["webhook"]
	_, timed := at["timeout"]
	switch _, runs := at["run"]; {
	case posts && runs:
		wrong("webhook", "it has something to run and somewhere to post; make it two hooks")
	case posts && timed:
		wrong("timeout", "what is posted is tried for %s, and again later; leave it out", webhook.Timeout)
	case posts:
		if err := webhook.CheckURL(one.Webhook); err != nil {
			wrong("webhook", "it is %v", err)
		}
	case len(one.Run) == 0 || one.Run[0] == "":
		wrong("run", `it has nothing to run; give a program and its arguments, as in run = ["notify-send", "done"], or a webhook = "https://…"`)
	}
	if _, said := at["format"]; said && (!posts || !slices.Contains(webhook.Formats, one.Format)) {
		wrong("format", "want one of %s, for a webhook only", strings.Join(webhook.Formats, ", "))
	}
}

// Kinds returns the completion kinds that run the hook.
func (h *Hook) Kinds() []string {
	var kinds []string
	for _, e := range HookEvents {
		if slices.Contains(h.On, e.Name) {
			kinds = append(kinds, e.Kinds...)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// Of reports whether the hook is for a session with a name and labels; both are empty without a session.
func (h *Hook) Of(name string, labels map[string]string) bool {
	for _, l := range h.Label {
		key, value, valued := strings.Cut(l, "=")
		if has, ok := labels[key]; !ok || valued && has != value {
			return false
		}
	}
	if len(h.Session) == 0 {
		return true
	}
	return slices.ContainsFunc(h.Session, func(p string) bool {
		fits, _ := path.Match(p, name) // the pattern was checked
		return fits
	})
}
