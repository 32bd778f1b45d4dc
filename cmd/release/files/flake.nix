# Nix: `nix run` beside this file, or as an input; the executables are those of << .Version >>.
{
  description = "Terminal sessions that outlive everything, for people and programs";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";
  outputs = { self, nixpkgs }:
    let
      archives = {
<<- range $os := .Brew >><< range $os.Archives >>
        "<< .Nix >>" = { name = "<< .Name >>"; sha256 = "<< .Sum >>"; };
<<- end >><< end >>
      };
      each = nixpkgs.lib.genAttrs (builtins.attrNames archives);
    in {
      packages = each (system:
        let pkgs = nixpkgs.legacyPackages.${system}; in rec {
          default = longterm;
          longterm = pkgs.stdenvNoCC.mkDerivation {
            pname = "longterm";
            version = "<< .Plain >>";
            src = pkgs.fetchurl {
              url = "https://github.com/longterm-dev/longterm/releases/download/<< .Version >>/${archives.${system}.name}";
              inherit (archives.${system}) sha256;
            };
            nativeBuildInputs = [ pkgs.installShellFiles ];
            installPhase = ''
              install -Dm755 -t $out/bin longterm longterm-fleetd
              installManPage man/*.1.gz
              installShellCompletion --bash completions/longterm.bash --zsh completions/_longterm --fish completions/longterm.fish
            '';
            meta = { mainProgram = "longterm"; license = pkgs.lib.licenses.mit; };
          };
        });
    };
}
