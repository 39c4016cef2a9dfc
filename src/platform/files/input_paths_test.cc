#include "platform/files/input_paths.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

using InputPathsTest = OwnFolderTest;

// A killed writer leaves its temporary file.
TEST_F(InputPathsTest, LeavesOurTemporaryFilesOut) {
  for (const char* name :
       {"a.txt", "a.txt.tmp-4711", "a.txt.partial", "b.tmp-notes", "c.txt.tmp-"}) {
    write_file_atomically(folder_ / name, "");
  }
  EXPECT_EQ(expand_paths((folder_ / "a*").string()), (std::vector<fs::path>{folder_ / "a.txt"}));
  EXPECT_EQ(expand_paths(folder_.string()).size(), 3u);
  const fs::path named = folder_ / "a.txt.tmp-4711";
  EXPECT_EQ(expand_paths(named.string()), (std::vector<fs::path>{named})) << "called by its name";
  fs::remove(folder_ / "a.txt");
  EXPECT_THROW(expand_paths((folder_ / "a*").string()), UserError);
}

TEST_F(InputPathsTest, KnowsStandardInput) {
  EXPECT_EQ(expand_paths("-"), (std::vector<fs::path>{"-"}));
}

TEST_F(InputPathsTest, KnowsListsGlobsAndFolders) {
  for (const char* name : {"b.txt", "a.txt", "c.dat"}) write_file_atomically(folder_ / name, "");
  EXPECT_EQ(expand_paths((folder_ / "*.txt").string()).size(), 2u);
  EXPECT_EQ(expand_paths((folder_ / "*.txt").string() + "," + (folder_ / "c.dat").string()).size(),
            3u);
  EXPECT_EQ(expand_paths(folder_.string()).front().filename(), "a.txt");
  EXPECT_THROW(expand_paths((folder_ / "*.none").string()), UserError);
}

TEST_F(InputPathsTest, APathThatExistsMayHaveCommas) {
  const auto at = [&](const char* name) { return (folder_ / name).string(); };
  for (const char* name : {"a", "b", "a,b", "a,b,c.txt"}) write_file_atomically(at(name), "");
  fs::create_directories(folder_ / "in,out");
  write_file_atomically(folder_ / "in,out" / "d", "");
  using Paths = std::vector<fs::path>;
  EXPECT_EQ(expand_paths(at("a,b")), (Paths{at("a,b")}));
  EXPECT_EQ(expand_paths(at("a,b,c.txt") + "," + at("b")), (Paths{at("a,b,c.txt"), at("b")}));
  EXPECT_EQ(expand_paths(at("b") + "," + at("a,b") + "," + at("a")),
            (Paths{at("b"), at("a,b"), at("a")}));
  EXPECT_EQ(expand_paths(at("in,out") + ",," + at("a") + ","), (Paths{at("in,out/d"), at("a")}));
  EXPECT_EQ(expand_paths(at("in?out/*")), (Paths{at("in,out/d")}));
  EXPECT_THROW(expand_paths(at("a,b,x")), UserError);
  std::string many = at("a,b");
  while (many.size() < 20'000) many += "," + at("a,b");
  EXPECT_EQ(expand_paths(many).size(), (many.size() + 1) / (at("a,b").size() + 1));
}

TEST_F(InputPathsTest, TakesANameBeforeAPattern) {
  for (const char* name : {"a[1].txt", "a1.txt", "b*.txt", "b2.txt", "c?.txt"}) {
    write_file_atomically(folder_ / name, "");
  }
  for (const char* name : {"a[1].txt", "b*.txt", "c?.txt"}) {
    EXPECT_EQ(expand_paths((folder_ / name).string()), (std::vector<fs::path>{folder_ / name}));
  }
  EXPECT_EQ(expand_paths((folder_ / "a[0-9].txt").string()),
            (std::vector<fs::path>{folder_ / "a1.txt"}));
}

std::string refusal_of(const ReadAndWritten& files) {
  try {
    require_other_files(files);
  } catch (const UserError& error) {
    return error.what();
  }
  return "taken";
}

std::string refusal_to_expand(const fs::path& path) {
  try {
    expand_paths(path.string());
  } catch (const UserError& error) {
    return error.what();
  }
  return "taken";
}

TEST_F(InputPathsTest, FollowsLinksToFoldersAndEndsAtThoseThatLeadBack) {
  fs::create_directories(folder_ / "far");
  fs::create_directories(folder_ / "in" / "deep");
  for (const char* name : {"far/a.txt", "in/b.txt"}) write_file_atomically(folder_ / name, "");
  fs::create_directory_symlink(folder_ / "far", folder_ / "in" / "link");
  fs::create_symlink("nowhere", folder_ / "in" / "dangling");
  EXPECT_EQ(expand_paths((folder_ / "in").string()),
            (std::vector<fs::path>{folder_ / "in" / "b.txt", folder_ / "in" / "link" / "a.txt"}));

  const fs::path back = folder_ / "in" / "deep" / "back";
  fs::create_directory_symlink("..", back);
  fs::create_directory_symlink("link", folder_ / "in" / "second");
  EXPECT_EQ(expand_paths((folder_ / "in").string()).size(), 2u) << "each file once";
  fs::remove(back);
  fs::create_symlink("back", back);
  const std::string message = refusal_to_expand(folder_ / "in");
  EXPECT_TRUE(message.starts_with("cannot read folder " + back.string() + ": ")) << message;
}

TEST_F(InputPathsTest, AFolderThatAPatternMatchesStandsForItsFiles) {
  fs::create_directories(folder_ / "AA");
  fs::create_directories(folder_ / "AB" / "empty");
  for (const char* name : {"AA/1", "AA/2", "AB/1", "AC"}) write_file_atomically(folder_ / name, "");
  const std::vector<fs::path> files{folder_ / "AA/1", folder_ / "AA/2", folder_ / "AB/1",
                                    folder_ / "AC"};
  const std::string pattern = (folder_ / "A*").string();
  EXPECT_EQ(expand_paths(pattern), files);
  std::vector<fs::path> with_folders = files;
  with_folders.insert(with_folders.end(), {folder_ / "AA", folder_ / "AB"});
  EXPECT_EQ(expand_paths_with_folders(pattern), with_folders);
  EXPECT_EQ(refusal_to_expand(folder_ / "AB" / "empty"),
            "folder " + (folder_ / "AB" / "empty").string() + " holds no files");
  EXPECT_NE(refusal_to_expand(folder_ / "AB" / "e*"), "taken");
}

TEST_F(InputPathsTest, AnInputIsNoOutput) {
  write_file_atomically(folder_ / "text", "");
  write_file_atomically(folder_ / "other", "");
  fs::create_hard_link(folder_ / "text", folder_ / "link");
  EXPECT_EQ(refusal_of({.inputs = {folder_ / "other", folder_ / "text"},
                        .outputs = {folder_ / "new", folder_ / "." / "text"}}),
            "writing " + (folder_ / "." / "text").string() + " would overwrite " +
                (folder_ / "text").string() + ", which is read; name another file");
  EXPECT_NE(refusal_of({.inputs = {folder_ / "text"}, .outputs = {folder_ / "link"}}), "taken");
  EXPECT_EQ(refusal_of({.inputs = {"-", "", folder_ / "text", folder_ / "none"},
                        .outputs = {"", "-", folder_ / "other", folder_ / "none"}}),
            "taken");
}

TEST_F(InputPathsTest, NothingIsWrittenIntoAFolderThatIsRead) {
  fs::create_directories(folder_ / "store" / "deep");
  fs::create_directory_symlink(folder_ / "store", folder_ / "link");
  EXPECT_EQ(
      refusal_of({.inputs = {folder_ / "store"}, .outputs = {folder_ / "store" / "store.json"}}),
      (folder_ / "store" / "store.json").string() + " is in " + (folder_ / "store").string() +
          ", which is read; name a file outside it");
  for (const char* inside : {"store/deep/new", "store/none/new", "link/new"}) {
    EXPECT_NE(refusal_of({.inputs = {folder_ / "store"}, .outputs = {folder_ / inside}}), "taken")
        << inside;
  }
  EXPECT_EQ(refusal_of({.inputs = {folder_ / "store"}, .outputs = {"", folder_ / "storeroom"}}),
            "taken");
}

}  // namespace
}  // namespace cloze::platform
