import torch
import torch.nn as nn
import torch.optim as optim


class AE(nn.Module):
    def __init__(self, **kwargs):
        super().__init__()
        self.encoder_hidden_layer = nn.Linear(in_features=kwargs["input_shape"], out_features=24)
        self.encoder_output_layer = nn.Linear(in_features=24, out_features=8)
        self.decoder_hidden_layer = nn.Linear(in_features=8, out_features=24)
        self.decoder_output_layer = nn.Linear(in_features=24, out_features=kwargs["input_shape"])

    def forward(self, features):
        activation = self.encoder_hidden_layer(features)
        activation = torch.relu(activation)
        code = self.encoder_output_layer(activation)
        code = torch.relu(code)
        activation = self.decoder_hidden_layer(code)
        activation = torch.relu(activation)
        activation = self.decoder_output_layer(activation)
        reconstructed = torch.relu(activation)
        return reconstructed


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = AE(input_shape=36).to(device)
optimizer = optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.MSELoss()

g = torch.Generator().manual_seed(9)
pictures = torch.rand(200, 1, 6, 6, generator=g)
train_loader = torch.utils.data.DataLoader(
    [(pictures[i], 0) for i in range(200)], batch_size=20, shuffle=True)

epochs = 6
for epoch in range(epochs):
    loss = 0
    for batch_features, _ in train_loader:
        # reshape mini-batch data to [N, 784] matrix
        batch_features = batch_features.view(-1, 36).to(device)
        optimizer.zero_grad()
        outputs = model(batch_features)
        train_loss = criterion(outputs, batch_features)
        train_loss.backward()
        optimizer.step()
        loss += train_loss.item()

    loss = loss / len(train_loader)
    print("epoch : {}/{}, loss = {:.6f}".format(epoch + 1, epochs, loss))
