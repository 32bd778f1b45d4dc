package rulebook

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file that is gone counts no more at the first look after a tenth of a second, and a broken one that is put there then brings
// nothing of it back.
//
// FEATURES: R61
func TestDeletedFileIsNotTheLastGoodOne(t *testing.T) {
	l := newLibrary(t, `allow = ["rm"]
preset = "build"`)
	l.want(agent, "rm x", "allow")
	l.remove(l.o.File, missingTime)
	l.want(agent, "rm -rf x", "allow") // hard, which asks less
	if st := l.Status(); st.Using != "none" {
		t.Errorf("%+v", st)
	}
	l.write("policy.toml", "deny = [oops")
	l.want(agent, "rm x", "ask")
	if st := l.Status(); st.Using != "broken" || st.Rules != 0 {
		t.Errorf("%+v", st)
	}
}

// Where nobody has looked before a broken one stood there it was changed, as far as anybody knows: what was denied stays denied.
func TestDeletedAndMadeAgainUnseenIsChanged(t *testing.T) {
	l := newLibrary(t, `deny = ["curl"]`)
	l.want(agent, "curl x", "deny")
	if err := os.Remove(l.o.File); err != nil {
		t.Fatal(err)
	}
	l.write("policy.toml", "deny = [oops")
	l.want(agent, "curl x", "deny")
	if st := l.Status(); st.Using != "kept" || st.Rules != 1 || len(st.Problems) == 0 {
		t.Errorf("%+v", st)
	}
	l.remove(l.o.File, missingTime)
	l.want(agent, "curl x", "allow")
}

// Nor does it where only another process has looked meanwhile, as `policy check` does.
func TestDeletedFile_SeenByOtherProcess(t *testing.T) {
	l := newLibrary(t, `allow = ["rm"]`)
	s := Subject{Agent: "x", Policy: "build"}
	l.want(s, "rm x", "allow")
	daemon := l.Book
	if err := os.Remove(l.o.File); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Minute)
	if err := os.Chtimes(l.dir, long, long); err != nil {
		t.Fatal(err)
	}
	o := l.o
	o.MayDeleteCopy = false
	l.Book = Open(o)
	l.want(s, "rm x", "ask")
	l.write("policy.toml", "deny = [oops")
	for _, l.Book = range []*Book{l.Book, daemon} {
		l.want(s, "rm x", "ask")
		if st := l.Status(); st.Using != "broken" {
			t.Errorf("%+v", st)
		}
	}
}

// The same of a project's file, which is not even found any more when it is gone.
func TestDeletedFileOfAProject(t *testing.T) {
	l := newLibrary(t, "")
	dir := l.project("p", `deny = ["docker"]`)
	file := filepath.Join(dir, projectPolicy)
	for _, s := range []Subject{{Agent: "x", Cwd: dir}, {Agent: "x", Cwd: filepath.Join(dir, "sub"), IsCwdResolved: true}} {
		l.write(file, `deny = ["docker"]`)
		l.want(s, "docker run x", "deny")
		l.remove(file, missingTime/2)
		l.want(s, "docker run x", "deny") // an editor may be writing it
		l.at = l.at.Add(missingTime)
		l.want(s, "docker run x", "allow")
		l.write(file, `deny = [oops`)
		l.want(s, "docker run x", "ask")
		if _, src := l.For(s); src.Files[1].Using != "broken" {
			t.Errorf("%+v", src.Files)
		}
		l.remove(file, missingTime)
		l.want(s, "docker run x", "allow")
	}
}

// Another process, as `policy check` is one, judges by the same last good one of a project's file as the daemon does.
//
// FEATURES: R64
func TestLastGoodProjectFile_Shared(t *testing.T) {
	l := newLibrary(t, "")
	dir := l.project("p", `deny = ["docker"]`)
	s := Subject{Agent: "x", Cwd: dir}
	l.want(s, "docker run x", "deny")
	l.write(filepath.Join(dir, projectPolicy), "deny = [oops")
	l.want(s, "docker run x", "deny")
	if all := l.ProjectProblems(); len(all) != 1 || all[0].Using != "kept" || len(all[0].Problems) != 1 {
		t.Errorf("%+v", all)
	}
	for range 2 { // two that start after it
		l.open(Options{})
		l.want(s, "docker run x", "deny")
		if _, src := l.For(s); src.Files[1].Using != "kept" || src.Files[1].Rules != 1 || len(src.Warnings()) != 1 {
			t.Errorf("%+v", src.Files)
		}
	}
}

func TestCopiesOfProjectsAreBounded(t *testing.T) {
	dir := t.TempDir()
	for n := range maxCopies + 3 {
		if err := writeCopy(filepath.Join(dir, HashOf([]byte{byte(n), byte(n >> 8)})), []byte("x"), true); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != maxCopies {
		t.Errorf("%d, %v", len(all), err)
	}
}

// What a process has judged by that does not stay is the last one in order for the next ones, where nobody else has looked.
//
// FEATURES: R61
func TestLastGoodOneIsOfAnyProcess(t *testing.T) {
	l := newLibrary(t, "")
	dir := l.project("p", "")
	check := func(line, want string) {
		t.Helper()
		o := l.o
		o.MayDeleteCopy = false
		l.Book = Open(o)
		l.want(Subject{Cwd: dir}, line, want)
	}
	for _, file := range []string{l.o.File, filepath.Join(dir, projectPolicy)} {
		l.write(file, `deny = ["docker"]`)
		check("docker rm x", "deny")
		l.write(file, `deny = ["dock`)
		check("docker rm x", "deny")
		l.remove(file, missingTime)
	}
}
