# The formula for Homebrew, which release/package.py fills in.
class KubectlDra < Formula
  desc "See, explain and maintain Kubernetes DRA device claims"
  homepage "https://github.com/kubectl-dra/kubectl-dra"
  version "@version@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@releases@/kubectl-dra-darwin-arm64.tar.gz"
      sha256 "@sha256 darwin-arm64@"
    end
    on_intel do
      url "@releases@/kubectl-dra-darwin-amd64.tar.gz"
      sha256 "@sha256 darwin-amd64@"
    end
  end

  on_linux do
    on_arm do
      url "@releases@/kubectl-dra-linux-arm64.tar.gz"
      sha256 "@sha256 linux-arm64@"
    end
    on_intel do
      url "@releases@/kubectl-dra-linux-amd64.tar.gz"
      sha256 "@sha256 linux-amd64@"
    end
  end

  def install
    bin.install "kubectl-dra", "completions/kubectl_complete-dra"
    bash_completion.install "completions/kubectl-dra.bash" => "kubectl-dra"
    zsh_completion.install "completions/_kubectl-dra"
    fish_completion.install "completions/kubectl-dra.fish"
    man1.install Dir["man/*.1"]
  end

  test do
    assert_match "gpu.example.com", shell_output("#{bin}/kubectl-dra status --from example:gpus")
  end
end
