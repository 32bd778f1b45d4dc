# Homebrew's formula of << .Version >>.
class Longterm < Formula
  desc "Terminal sessions that outlive everything, for people and programs"
  homepage "https://github.com/longterm-dev/longterm"
  version "<< .Plain >>"
  license "MIT"
<< $top := . ->>
<< range $os := .Brew >>
  on_<< $os.Word >> do
<<- range $os.Archives >>
    on_<< .CPU >> do
      url "https://github.com/longterm-dev/longterm/releases/download/<< $top.Version >>/<< .Name >>"
      sha256 "<< .Sum >>"
    end
<<- end >>
  end
<< end >>
  def install
    bin.install "longterm", "longterm-fleetd"
    man1.install Dir["man/*.1.gz"]
    bash_completion.install "completions/longterm.bash" => "longterm"
    zsh_completion.install "completions/_longterm"
    fish_completion.install "completions/longterm.fish"
  end

  test do
    ENV["LONGTERM_DIR"] = testpath/"longterm"
    assert_equal "it works\n", shell_output("#{bin}/longterm run -- echo it works")
    system bin/"longterm", "daemon", "stop", "--kill-sessions"
  end
end
