package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func releaseTo(t *testing.T, out string, site bool) {
	t.Helper()
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	r := release{root: root, out: out, version: "v1.2.3-rc.1", site: site, targets: []target{host()}}
	if err := r.make(); err != nil {
		t.Fatal(err)
	}
}

// TestRelease checks that the same commit gives the same files, and that the install script puts them where shells and
// man find them, rejects files that were changed on the way, and leaves nothing behind.
//
// FEATURES: R121
func TestRelease(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the install script is for sh")
	}
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	releaseTo(t, first, true)
	releaseTo(t, second, false)
	a, err := os.ReadFile(filepath.Join(first, "SHA256SUMS"))
	b, err2 := os.ReadFile(filepath.Join(second, "SHA256SUMS"))
	if err != nil || err2 != nil || !bytes.Equal(a, b) {
		t.Fatalf("two builds differ: %v, %v\n%s\n%s", err, err2, a, b)
	}
	checkInside(t, first)

	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	env := append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "XDG_") }),
		"HOME="+home, "LONGTERM_DIR="+filepath.Join(dir, "lt"))
	run := func(name string, args ...string) (string, error) {
		c := exec.Command(name, args...)
		c.Env, c.Dir = env, dir
		out, err := c.CombinedOutput()
		return string(out), err
	}
	script, exe := filepath.Join(first, "install.sh"), filepath.Join(home, ".local/bin/longterm")
	must := func(name string, args ...string) string {
		t.Helper()
		out, err := run(name, args...)
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return out
	}
	must("sh", script, "--from", first)
	must("sh", script, "--from", first) // a second time: existing files are replaced
	if out := must(exe, "version"); !strings.Contains(out, "v1.2.3-rc.1") {
		t.Errorf("version: %s", out)
	}
	if out := must(exe, "run", "--", "echo", "it works"); out != "it works\n" {
		t.Errorf("run: %q", out)
	}
	for _, f := range []string{
		"man/man1/longterm-ls.1.gz", "bash-completion/completions/longterm", "zsh/site-functions/_longterm", "fish/vendor_completions.d/longterm.fish",
	} {
		if s, err := os.Stat(filepath.Join(home, ".local/share", f)); err != nil || s.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	if out, err := run("sh", script, "--uninstall", "--prefix", filepath.Join(dir, "other")); err == nil || !strings.Contains(out, "nothing was installed") {
		t.Errorf("uninstalled without an installation: %v, %s", err, out)
	}
	must(exe, "new", "-n", "on", "--", "sh", "-c", "read x")
	for _, args := range [][]string{{"--uninstall"}, {"--uninstall", "--purge"}} {
		if out, err := run("sh", append([]string{script}, args...)...); err == nil || !strings.Contains(out, "sessions are running") {
			t.Errorf("%q under a session: %v, %s", args, err, out)
		}
	}
	must(exe, "daemon", "stop", "--kill-sessions")
	must("sh", script, "--uninstall", "--purge")
	for _, d := range []string{home, filepath.Join(dir, "lt")} {
		if left := filesIn(t, d); len(left) > 0 {
			t.Errorf("left in %s: %q", d, left)
		}
	}
	// Histories at their place without LONGTERM_DIR: the directories that were created for them are removed too.
	env = slices.DeleteFunc(env, func(s string) bool { return strings.HasPrefix(s, "LONGTERM_DIR=") })
	must("sh", script, "--from", first)
	must(exe, "run", "--", "true")
	must("sh", script, "--uninstall", "--purge")
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("left at home: %v, %v", left, err)
	}

	tars, err := filepath.Glob(filepath.Join(second, "*.tar.gz"))
	if err != nil || len(tars) != 1 {
		t.Fatalf("%q, %v", tars, err)
	}
	f, err := os.OpenFile(tars[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("more"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := run("sh", script, "--from", second); err == nil || !strings.Contains(out, "nothing was installed") {
		t.Errorf("a changed archive: %v, %s", err, out)
	}
	if left := filesIn(t, home); len(left) > 0 {
		t.Errorf("of a changed archive there is %q", left)
	}
}

func filesIn(t *testing.T, dir string) (list []string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, at)
		}
		return nil
	})
	return list
}

// checkInside checks the lists of contents: the list of modules, the formula, the flake, a package.
func checkInside(t *testing.T, dir string) {
	t.Helper()
	var bom struct {
		Components []struct{ Name, Version string }
	}
	b, err := os.ReadFile(filepath.Join(dir, "longterm.cdx.json"))
	if err == nil {
		err = json.Unmarshal(b, &bom)
	}
	if err != nil || !slices.ContainsFunc(bom.Components, func(c struct{ Name, Version string }) bool {
		return c.Name == "github.com/creack/pty" && strings.HasPrefix(c.Version, "v1.")
	}) {
		t.Errorf("SBOM: %v, %v", err, bom)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	sum := regexp.MustCompile(`(?m)^([0-9a-f]{64})  longterm_.*\.tar\.gz$`).FindSubmatch(sums)
	for _, name := range []string{"longterm.rb", "flake.nix"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || sum == nil || !bytes.Contains(b, sum[1]) || bytes.Contains(b, []byte("<<")) {
			t.Errorf("%s: %v\n%s", name, err, b)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Log("dpkg-deb is not here: the package's list is not looked at")
		return
	}
	debs, _ := filepath.Glob(filepath.Join(dir, "*.deb"))
	if len(debs) != 1 {
		t.Fatalf("%q", debs)
	}
	out, err := exec.Command("dpkg-deb", "--contents", debs[0]).CombinedOutput()
	for _, want := range []string{"root/root", "./usr/bin/longterm\n", "./usr/share/man/man1/longterm.1.gz\n", "./usr/lib/systemd/user/longterm.service\n"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, no %q in\n%s", debs[0], err, want, out)
		}
	}
}

// TestContentsOfPackages checks that completions of zsh are where each system's zsh searches, and the package's own
// directory is included.
//
// FEATURES: R121
func TestContentsOfPackages(t *testing.T) {
	var r release
	list := []file{{from: "x", name: "_longterm", to: "/usr/share/zsh/vendor-completions/_longterm"}, {from: "y", name: "longterm.ps1"}}
	for format, dir := range map[string]string{"deb": "vendor-completions", "rpm": "site-functions", "apk": "site-functions"} {
		var got []string
		for _, c := range r.contents(format, list) {
			got = append(got, c.Destination)
		}
		want := []string{"/usr/share/doc/longterm"}
		if format == "rpm" { // rpm leaves other directories that it created
			want = append(want, sharedDirs...)
		}
		if want = append(want, "/usr/share/zsh/"+dir+"/_longterm"); !slices.Equal(got, want) {
			t.Errorf("%s: %q; want %q", format, got, want)
		}
	}
}

func TestWrongReleases(t *testing.T) {
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"1.2.3", "v1", "v1.2.3 ", "v1.2.3-a/b", "../v1.2.3"} {
		r := release{root: root, version: v}
		if err := r.identify(); err == nil || !strings.Contains(err.Error(), "v1.2.3") {
			t.Errorf("%q: %v", v, err)
		}
	}
	var r release
	if err := r.choose("linux/amd64,plan9/386"); err == nil || !strings.Contains(err.Error(), "linux/arm64") {
		t.Errorf("%v", err)
	}
}

// TestSite_HidesNavigation_OnPhones keeps the list of all pages behind a control where the screen is narrow: below the text it would
// be thousands of pixels away.
//
// FAULT: H21
func TestSite_HidesNavigation_OnPhones(t *testing.T) {
	css, err := os.ReadFile("files/site.css")
	if err != nil {
		t.Fatal(err)
	}
	_, phone, ok := strings.Cut(string(css), "@media (max-width: 48rem) {")
	if !ok || !strings.Contains(phone, "nav { display: none;") || !strings.Contains(phone, ".menu:checked ~ .columns nav { display: block; }") {
		t.Errorf("the navigation is not behind a control on phones: %s", phone)
	}
	page, err := os.ReadFile("files/site.html")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), `<input class="menu" type="checkbox" id="menu"><label class="menu-label" for="menu">`) {
		t.Error("the page has no control for the navigation")
	}
}

// TestSite checks that each link of a page leads to an existing page, file or heading.
//
// FEATURES: R121
func TestSite(t *testing.T) {
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "site")
	if err := makeSite(filepath.Join(root, "docs"), filepath.Join(root, "README.md"), out, "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, at := range filesIn(t, out) {
		b, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(out, at)
		text[filepath.ToSlash(name)] = string(b)
	}
	links, checked := regexp.MustCompile(`(?:href|src)="([^"]*)"`), 0
	for name, body := range text {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for _, m := range links.FindAllStringSubmatch(body, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") {
				continue
			}
			at := name
			if to != "" {
				at = filepath.ToSlash(filepath.Join(filepath.Dir(name), to))
			}
			target, ok := text[at]
			if !ok || anchor != "" && !strings.Contains(target, `id="`+anchor+`"`) {
				t.Errorf("%s links to %s", name, m[1])
			}
			checked++
		}
	}
	for _, part := range []string{"On this page", `rel="prev"`, `rel="next"`, `aria-current="page"`} {
		if !strings.Contains(text["policy.html"], part) {
			t.Errorf("policy.html lacks %s", part)
		}
	}
	if checked < 1000 {
		t.Errorf("%d links were looked at", checked)
	}
	var parts []part
	if err := json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimPrefix(text["search.js"], "const parts = "), ";\n")), &parts); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if page, ok := text[p.Page]; !ok || p.Anchor != "" && !strings.Contains(page, `id="`+p.Anchor+`"`) {
			t.Errorf("search leads to %s#%s", p.Page, p.Anchor)
		}
	}
}

func TestPageIsHarmless(t *testing.T) {
	p, err := readPage("a/b.md", []byte("# T <script>alert(1)</script>\n\n<img src=x onerror=y> [x](javascript:alert(1)) [y](../c.md#d)\n"))
	if err != nil || strings.Contains(string(p.Body), "<script") || strings.Contains(string(p.Body), "onerror") || strings.Contains(string(p.Body), "javascript:") {
		t.Errorf("%v: %s", err, p.Body)
	}
	if !strings.Contains(string(p.Body), `href="../c.html#d"`) {
		t.Errorf("%s", p.Body)
	}
}
