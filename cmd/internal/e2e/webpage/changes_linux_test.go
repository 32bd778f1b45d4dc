package webpage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestChangesPage_ListsCommitsDiscards checks that the page marks a session's draft with the number of its changes,
// lists them with their differences, and commits and discards them after a confirmation.
//
// FEATURES: R112, R124
func TestChangesPage_ListsCommitsDiscards(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	project := filepath.Join(t.TempDir(), "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "gone", "kept"} {
		if err := os.WriteFile(filepath.Join(project, name), []byte("old "+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, errOut, code := i.Try("new", "-n", "d", "--draft", "--cwd", project, "--", "bash", "--norc", "--noprofile"); code != 0 {
		if strings.Contains(errOut, "namespaces") {
			t.Skip(errOut)
		}
		t.Fatal(errOut)
	}
	i.Run("exec", "--wait", "d", "echo new > a; echo x > made; rm gone; echo y > kept")
	p := open(i, b, browser.Desk)
	p.Wait("the mark in the list", `[...document.querySelectorAll('.item .what')].some((e) => e.textContent.startsWith('draft(4) '))`)
	show(i, p, "d")
	p.Wait("the mark", `[...document.querySelectorAll('.head .chip')].some((e) => e.textContent === 'draft(4)' && !e.hidden)`)
	p.Eval(`[...document.querySelectorAll('.head .chip')].find((e) => e.textContent === 'draft(4)').click()`, nil)
	p.Wait("the changes", `document.querySelectorAll('.changes article').length === 4`)
	p.Wait("nothing to commit while it runs", `!document.querySelector('.changes .answers') && document.querySelector('.changes .note').textContent.includes('after the session has ended')`)
	entry := func(path string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('.changes article')].find((e) => e.querySelector('code').textContent === %q)`, path)
	}
	p.Eval(entry("a")+`.querySelector('.line').click()`, nil)
	p.Wait("its difference", entry("a")+`.querySelector('.diff ins')?.textContent === '+++ b/a\n' && `+entry("a")+`.querySelector('.diff').textContent.includes('-old a\n+new\n')`)
	keep(t, p, "changes-running-desk")

	i.Run("kill", "--grace", "100ms", "d")
	p.Wait("what commits", `document.querySelector('.changes .answers')`)
	keep(t, p, "changes-desk")
	p.Show(browser.Phone)
	keep(t, p, "changes-phone")
	p.Show(browser.Desk)
	tap := func(in, label string) {
		t.Helper()
		p.Wait("the button "+label, fmt.Sprintf(`[...(%s)?.querySelectorAll('button') ?? []].some((b) => b.textContent === %q)`, in, label))
		p.Eval(fmt.Sprintf(`[...%s.querySelectorAll('button')].find((b) => b.textContent === %q).click()`, in, label), nil)
		p.Wait("the question", `document.querySelector('dialog form')`)
		p.Eval(`document.querySelector('dialog form').requestSubmit()`, nil)
		p.Wait("it is answered", `!document.querySelector('dialog')`)
	}
	is := func(name, want string) {
		t.Helper()
		got, err := os.ReadFile(filepath.Join(project, name))
		if err != nil && want != "" || string(got) != want {
			t.Errorf("%s: %q, want %q (%v)", name, got, want, err)
		}
	}
	tap(entry("a"), "Commit")
	p.Wait("it has left", `document.querySelectorAll('.changes article').length === 3`)
	is("a", "new\n")
	is("gone", "old gone\n")
	tap(entry("kept"), "Discard")
	p.Wait("it has left", `document.querySelectorAll('.changes article').length === 2`)
	tap(`document.querySelector('.changes')`, "Commit all")
	p.Wait("nothing is left", `document.querySelector('.changes .none')`)
	is("gone", "")
	is("made", "x\n")
	is("kept", "old kept\n")
	p.Wait("no mark", `![...document.querySelectorAll('.head .chip')].some((e) => e.textContent.startsWith('draft') && !e.hidden)`)
	quiet(t, b, "/changes") // its read may find the draft removed, which the page shows as no changes
}
